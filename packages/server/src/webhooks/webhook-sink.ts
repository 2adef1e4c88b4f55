import { eventToWire } from '@waybill/client';
import {
  type Clock,
  EVENT_TYPES,
  type LoggedEvent,
  type Sink,
  SinkRefusal,
  type SinkTarget,
  type StoredRecord,
} from '@waybill/core';
import { RECORD_EVENT_TYPES } from '../records/kinds.ts';
import { type Posted, type PostOptions, post } from './post.ts';
import type { WebhookValue } from './service.ts';
import { signatures } from './signature.ts';
import { wants } from './wanted-events.ts';

export interface WebhookOptions extends PostOptions {
  /** Of this software, for the user agent. */
  version: string;
  clock: Clock;
}

/** A webhook as the engine runs it. Made anew whenever its record changes. */
export function webhookSink({ tenant, id, version, value }: StoredRecord, options: WebhookOptions): Sink {
  const webhook = value as unknown as WebhookValue;
  const { queues, job_types: jobTypes } = webhook;
  const types = typesOf(webhook.events);
  return {
    ...{ tenant, id, revision: String(version), target: targetOf(webhook) },
    filter: { types, ...(queues?.length && { queues }), ...(jobTypes?.length && { jobTypes }) },
    facts: { paused: 'webhook.paused', missed: 'webhook.missed' },
    deliver: async ({ event }, signal) => checkAnswer(await send(webhook, event, options, signal), options.clock),
  };
}

const targetOf = ({ url }: WebhookValue): SinkTarget => ({
  kind: 'webhook',
  ...(URL.canParse(url) && { host: new URL(url).hostname }),
});

/** Every try of an event has the same id; the timestamp is that of the try. */
export function send(
  { url, secrets }: WebhookValue,
  event: LoggedEvent,
  options: WebhookOptions,
  signal: AbortSignal,
): Promise<Posted> {
  const wire = eventToWire(event);
  const body = JSON.stringify(wire);
  const now = options.clock.now();
  const signed = { id: headerId(wire.id), timestamp: Math.floor(now / 1_000), body };
  const headers = {
    'Content-Type': 'application/cloudevents+json; charset=utf-8',
    'User-Agent': `waybill/${options.version}`,
    'webhook-id': signed.id,
    'webhook-timestamp': String(signed.timestamp),
    'webhook-signature': signatures(secrets, signed, now),
  };
  return post(url, { headers, body }, options, signal);
}

/** Names of queues and workers may hold what no header may, and a dot would end the id in what is signed. */
const headerId = (id: string): string => encodeURIComponent(id).replaceAll('.', '%2E');

const GONE = 410;
/** With these a receiver may say when to come again. */
const BUSY: ReadonlySet<number> = new Set([429, 503]);

/** Throws what a status other than 2xx means for the next try. */
export function checkAnswer({ status, retryAfter }: Pick<Posted, 'status' | 'retryAfter'>, clock: Clock): void {
  if (status >= 200 && status < 300) return;
  if (status === GONE) throw new SinkRefusal('The receiver answered 410 (gone).', { isFinal: true });
  if (status >= 300 && status < 400)
    throw new SinkRefusal(`The receiver answered ${status}; redirects are not followed.`);
  const retryAfterMs = BUSY.has(status) ? millisecondsOf(retryAfter, clock.now()) : undefined;
  throw new SinkRefusal(`The receiver answered ${status}.`, retryAfterMs === undefined ? {} : { retryAfterMs });
}

/** `Retry-After` has seconds or a date. The engine waits an hour at most, so a number of any length is a number. */
function millisecondsOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text) ? Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER) : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

/** What stands for several types is written out, so that the store is asked for nothing else. Undefined: all. */
function typesOf(events: readonly string[]): string[] {
  const all: readonly string[] = [...EVENT_TYPES, ...RECORD_EVENT_TYPES];
  // Types that are not in the list may be named all the same.
  return [...new Set([...all.filter((type) => wants(events, type)), ...events.filter((name) => !name.endsWith('*'))])];
}
