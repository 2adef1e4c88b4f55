import type { WireWebhook } from '@waybill/client';
import { shownAddress } from '../connect/shown-address.ts';
import type { Context } from './context.ts';
import { away, span } from './spans.ts';
import type { Pair } from './table.ts';

/** Behind the host, a part that is too long for a word and has digits: many receivers have their token there. */
const TOKEN_IN_PATH = /(?<=:\/\/[^/]+\/(?:[^?]*\/)?)(?=[^/?]*\d)[^/?]{16,}/g;

/** Without the values of the query and long parts of the path, which are often tokens. `--json` has the whole address. */
export const shownUrl = ({ url }: WireWebhook): string => shownAddress(url).replaceAll(TOKEN_IN_PATH, '***');

/** Everything about a webhook, for people. */
export function webhookPairs(webhook: WireWebhook, { io, style }: Context): Pair[] {
  const { id, description, events, queues, job_types, state, created_at } = webhook;
  const at = (text: string | undefined) => (text === undefined ? undefined : away(Date.parse(text), io.now()));
  return [
    ['webhook', id],
    ['url', shownUrl(webhook)],
    ['description', description],
    ['events', events.join(', ')],
    ['queues', queues?.join(', ')],
    ['job types', job_types?.join(', ')],
    ['created', at(created_at)],
    ['status', state.status, style.state],
    ['reason', state.paused_reason],
    ['delivered', String(state.delivered)],
    ['lag', state.lag_ms === undefined ? undefined : state.lag_ms === 0 ? 'none' : span(state.lag_ms)],
    ['failing since', at(state.failing_since)],
    ['failures', state.failures === 0 ? undefined : String(state.failures)],
    ['last error', lastError(webhook, io.now())],
    ['next try', at(state.next_try_at)],
    ['missed', state.missed ? 'events were pruned before they were delivered' : undefined],
  ];
}

function lastError({ state: { last_error, last_error_at } }: WireWebhook, now: number): string | undefined {
  if (last_error === undefined) return undefined;
  return last_error_at === undefined ? last_error : `${last_error} (${away(Date.parse(last_error_at), now)})`;
}
