import type { RemoteWaybill, RemoteWebhooks } from '@waybill/client/http';
import { silentLogger, type Waybill } from '@waybill/core';
import { misuse, type Options, type Values } from './command.ts';
import type { Context } from './context.ts';
import { listIn } from './edge-options.ts';
import type { Io } from './io.ts';
import { version } from './version.ts';
import { wholeWebhookId } from './webhook-ids.ts';

/** No packet goes there: the calls are answered in this process. */
const HERE = 'http://localhost';

/** For commands that check or send to an address. */
export const TARGET_OPTIONS = {
  'webhook-target': {
    value: 'RANGE',
    several: true,
    about: 'on a store: a range that is allowed, as the option of serve',
    default: 'WAYBILL_WEBHOOK_TARGETS, none',
  },
  'allow-private-webhooks': { about: 'on a store: private ranges and plain http, as the option of serve' },
} as const satisfies Options;

export interface Targets {
  allowPrivate: boolean;
  targets: string[];
}

/** Where webhooks may go, besides the internet. */
export function readTargets(values: Values<typeof TARGET_OPTIONS>, env: Io['env']): Targets {
  const { 'webhook-target': named, 'allow-private-webhooks': allowPrivate = false } = values;
  const targets = listIn(named?.join(',') ?? env['WAYBILL_WEBHOOK_TARGETS'] ?? '');
  if (allowPrivate && targets.length > 0)
    throw misuse('--allow-private-webhooks allows every receiver: leave out --webhook-target.');
  return { allowPrivate, targets };
}

interface Opening {
  create?: boolean;
  /** As the options were given. */
  values?: Values<typeof TARGET_OPTIONS>;
}

/**
 * The webhooks of a server, or of a store. On a store the routes of a server are asked without a socket, so that checks,
 * answers and refusals are the same. What delivers is made and not started: only servers follow the log.
 */
export async function openWebhooks(
  context: Context,
  { create = false, values = {} }: Opening = {},
): Promise<RemoteWebhooks> {
  const { clock, tenant } = context;
  const waybill = await context.connect({ create });
  if (hasWebhooks(waybill)) {
    for (const option of Object.keys(TARGET_OPTIONS) as (keyof typeof TARGET_OPTIONS)[])
      if (values[option] !== undefined) throw misuse(`--${option} is for stores. A server is started with it.`);
    return waybill.webhooks;
  }
  // Loaded here, so that other commands do not pay for it.
  const { createApp, webhookService } = await import('@waybill/server');
  const { remote } = await import('@waybill/client/http');
  const parts = { waybill, clock, version: version(), logger: silentLogger };
  const app = createApp({ ...parts, webhooks: webhookService({ ...parts, ...readTargets(values, context.io.env) }) });
  const whose = tenant === undefined ? {} : { tenant };
  return remote(HERE, { ...whose, fetch: (url, init) => app.request(url, init) }).webhooks;
}

/** The webhooks, and the id of the one that is meant. */
export async function openWebhook(
  context: Context,
  text: string,
  opening?: Opening,
): Promise<{ webhooks: RemoteWebhooks; id: string }> {
  const webhooks = await openWebhooks(context, opening);
  return { webhooks, id: await wholeWebhookId(webhooks, text) };
}

const hasWebhooks = (waybill: Waybill): waybill is RemoteWaybill => 'webhooks' in waybill;
