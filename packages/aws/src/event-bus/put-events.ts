import { type Clock, SinkRefusal, WaybillError } from '@waybill/core';
import { isSilence, noAnswer } from '../silence.ts';
import type { Timeouts } from '../timeouts.ts';
import type { Client, PutEventsEntry, Sdk } from './sdk.ts';

/** EventBridge takes no more in one request. */
export const MOST_ENTRIES = 10;
export const MOST_BYTES = 256 * 1024;

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;
/** The whole sink rests for this long when EventBridge asks for fewer requests. */
const REST_MS = 1_000;

const THROTTLED = /Throttl|TooManyRequests|LimitExceeded/;
/** EventBridge may take such an entry when it comes again. */
const PASSING = /InternalFailure|InternalException|InternalError|ServiceUnavailable/;

interface PutParts {
  sdk: Sdk;
  client: Client;
  timeouts: Timeouts;
  clock: Clock;
}

/** Undefined: EventBridge has taken the entry. */
export type PutResult = Error | undefined;

interface Round {
  /** By entry. */
  results: PutResult[];
  /** Places of those that may be taken when they come again. */
  again: number[];
}

/**
 * Puts at most ten entries, and answers for each whether it was taken. Those that were not are put again while that may help
 * and the time of a call is not over; the others are not repeated.
 */
export async function putEntries(parts: PutParts, entries: readonly PutEventsEntry[]): Promise<PutResult[]> {
  const { clock, timeouts } = parts;
  const results: PutResult[] = entries.map(() => undefined);
  const latest = clock.monotonic() + timeouts.callMs - timeouts.requestMs;
  let places = entries.map((_, place) => place);
  for (let round = 0; ; round += 1) {
    const done = await putOnce(
      parts,
      places.map((place) => entries[place]!),
    );
    done.results.forEach((result, index) => {
      results[places[index]!] = result;
    });
    places = done.again.map((index) => places[index]!);
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** round);
    if (places.length === 0 || clock.monotonic() + pauseMs > latest) return results;
    await clock.sleep(pauseMs);
  }
}

async function putOnce({ sdk, client }: PutParts, entries: PutEventsEntry[]): Promise<Round> {
  try {
    const { FailedEntryCount = 0, Entries = [] } = await client.send(new sdk.PutEventsCommand({ Entries: entries }));
    if (FailedEntryCount === 0) return { results: entries.map(() => undefined), again: [] };
    const results = entries.map((_, place) => {
      const { EventId, ErrorCode = 'unknown', ErrorMessage = '' } = Entries[place] ?? {};
      return EventId === undefined ? refusalOf(ErrorCode, ErrorMessage) : undefined;
    });
    const codeAt = (place: number) => Entries[place]?.ErrorCode ?? '';
    const again = results.flatMap((result, place) => (result && mayPass(codeAt(place)) ? [place] : []));
    return { results, again };
  } catch (error) {
    const failure = failureOf(error);
    const { name = '' } = error as { name?: string };
    // A request without an answer has had its time; and the entries may have been taken.
    const again = mayPass(name) ? entries.map((_, place) => place) : [];
    return { results: entries.map(() => failure), again };
  }
}

const mayPass = (code: string): boolean => THROTTLED.test(code) || PASSING.test(code);

function failureOf(cause: unknown): Error {
  if (isSilence(cause)) return noAnswer('EventBridge', cause);
  const { name = '', message = '' } = cause as Error;
  if (/AccessDenied|NotAuthorized/.test(name)) {
    const hint = 'It needs events:PutEvents on the bus.';
    return new WaybillError('forbidden', 'EventBridge does not let us put events.', { cause, hint });
  }
  return refusalOf(name, message);
}

const refusalOf = (code: string, message: string): SinkRefusal =>
  new SinkRefusal(
    `EventBridge has not taken the event (${code}). ${message}`.trim(),
    THROTTLED.test(code) ? { retryAfterMs: REST_MS } : {},
  );
