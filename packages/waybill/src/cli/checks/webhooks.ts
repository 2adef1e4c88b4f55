import type { WireWebhook } from '@waybill/client';
import { isRemote } from '../../connect/parse-address.ts';
import type { Context } from '../context.ts';
import { openWebhooks } from '../open-webhooks.ts';
import { refusalOf } from '../report.ts';
import { span } from '../spans.ts';
import { type Check, isMissing } from './check.ts';

const name = 'webhooks';
const PAGE = 1_000;
/** Tenants and pages that are looked at: a look must end. */
const MOST_LOOKS = 100;
/** A server may be older, or the caller may not look at webhooks: nothing is wrong with them then. */
const UNKNOWN = ['not_found', 'forbidden', 'unsupported', 'unauthenticated'];

/** Webhooks that get nothing at this moment. Without any, there is nothing to say. */
export async function checkWebhooks(context: Context, store: readonly Check[]): Promise<Check[]> {
  if (store.some(isMissing)) return [];
  try {
    const { ill, isMore } = await illWebhooks(context);
    const [first] = ill;
    if (first === undefined) return [];
    const count = (status: string) => ill.filter(({ webhook }) => webhook.state.status === status).length;
    const counts = [`${count('failing')} failing`, `${count('paused')} paused`].filter(
      (text) => !text.startsWith('0 '),
    );
    const message = `${counts.join(', ')}${isMore ? ' or more' : ''}, first ${lineOf(first, context.io.now())}`;
    return [{ name, status: 'warn', message, hint: hintFor(first) }];
  } catch (error) {
    const { code, message } = refusalOf(error);
    return UNKNOWN.includes(code) ? [] : [{ name, status: 'warn', message: `they cannot be listed: ${message}` }];
  }
}

interface Ill {
  webhook: WireWebhook;
  tenant: string | undefined;
}

async function illWebhooks(context: Context): Promise<{ ill: Ill[]; isMore: boolean }> {
  const ill: Ill[] = [];
  let looks = 0;
  const tenants = await tenantsOf(context);
  const webhooks = await openWebhooks(context);
  for (const tenant of tenants) {
    let cursor: string | undefined;
    do {
      if (looks === MOST_LOOKS) return { ill, isMore: true };
      looks += 1;
      const page = await webhooks.list({ tenant, limit: PAGE, ...(cursor !== undefined && { cursor }) });
      const found = page.webhooks.filter(({ state }) => state.status !== 'active');
      ill.push(...found.map((webhook) => ({ webhook, tenant })));
      cursor = page.cursor;
    } while (cursor !== undefined);
  }
  // Those that nobody has paused on purpose come first.
  return { ill: ill.sort((one, other) => Number(one.webhook.paused) - Number(other.webhook.paused)), isMore: false };
}

/** A server shows the webhooks of one tenant; on a store all can be seen. */
async function tenantsOf(context: Context): Promise<(string | undefined)[]> {
  if (isRemote(context.store)) return [context.tenant];
  const { sinks } = await context.connect({ transport: 'poll' });
  const known = (await sinks?.tenantsWith('webhook')) ?? [];
  return [...new Set([context.tenant ?? '', ...known])];
}

/** Only the origin of the address: paths and queries may hold tokens. */
function lineOf({ webhook: { id, url, state, paused }, tenant }: Ill, now: number): string {
  const where = `${id}${tenant ? ` of tenant ${tenant}` : ''} to ${URL.canParse(url) ? new URL(url).origin : '?'}`;
  const { status, failing_since: since, last_error: error, paused_reason: reason } = state;
  if (status === 'failing') {
    const long = since === undefined ? '' : ` for ${span(Math.max(0, now - Date.parse(since)))}`;
    return `${where}, failing${long}${error === undefined ? '' : `: ${error}`}`;
  }
  return `${where}, paused${paused || reason === undefined ? '' : `: ${reason}`}`;
}

const hintFor = ({ webhook: { id, state }, tenant }: Ill): string => {
  const whose = tenant ? ` --tenant ${tenant}` : '';
  return state.status === 'paused'
    ? `\`waybill webhooks resume ${id}${whose}\` goes on where it stopped.`
    : `\`waybill webhooks show ${id}${whose}\` tells more; it is tried again.`;
};
