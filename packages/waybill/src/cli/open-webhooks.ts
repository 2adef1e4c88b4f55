import type { RemoteWaybill, RemoteWebhooks } from '@waybill/client/http';
import { silentLogger, type Waybill } from '@waybill/core';
import { misuse, type Options } from './command.ts';
import type { Context } from './context.ts';
import { version } from './version.ts';
import { wholeWebhookId } from './webhook-ids.ts';

/** No packet goes there: the calls are answered in this process. */
const HERE = 'http://localhost';

/** For commands that check or send to an address. */
export const PRIVATE_OPTION = {
  'allow-private-webhooks': { about: 'on a store: private ranges and plain http, as the option of serve' },
} as const satisfies Options;

interface Opening {
  create?: boolean;
  /** As the option was given. */
  allowPrivate?: boolean | undefined;
}

/**
 * The webhooks of a server, or of a store. On a store the routes of a server are asked without a socket, so that checks,
 * answers and refusals are the same. What delivers is made and not started: only servers follow the log.
 */
export async function openWebhooks(
  context: Context,
  { create = false, allowPrivate = false }: Opening = {},
): Promise<RemoteWebhooks> {
  const { clock, tenant } = context;
  const waybill = await context.connect({ create });
  if (hasWebhooks(waybill)) {
    if (allowPrivate) throw misuse('--allow-private-webhooks is for stores. A server is started with it.');
    return waybill.webhooks;
  }
  // Loaded here, so that other commands do not pay for it.
  const { createApp, webhookService } = await import('@waybill/server');
  const { remote } = await import('@waybill/client/http');
  const parts = { waybill, clock, version: version(), logger: silentLogger };
  const app = createApp({ ...parts, webhooks: webhookService({ ...parts, allowPrivate }) });
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
