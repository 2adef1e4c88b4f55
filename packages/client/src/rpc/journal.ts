import type {
  Appended,
  FollowedItem,
  FollowJobQuery,
  Jobs,
  JournalEntry,
  JournalReadQuery,
  NewEntry,
} from '@waybill/core';
import { type AppendedEvents, type JobEvent, JobEventsService, type StreamEventsResponse } from '@waybill/protocol';
import { appendInSlices } from '../append-slices.ts';
import { invalid, RemoteError } from '../http/remote-error.ts';
import { eventFromRpc } from './events.ts';
import { entryFromRpc, newEntryToRpc } from './job-event-codec.ts';
import { resumed } from './resumed.ts';
import type { RpcCalls } from './rpc-calls.ts';
import { limitIn, refused, textIn } from './sent.ts';
import { countOf, timeOf } from './values.ts';

const { appendEvents, readEvents, streamEvents } = JobEventsService.method;
const MOST_READ = 1_000;

export function journal(calls: RpcCalls): Pick<Jobs, 'append' | 'journal' | 'follow'> {
  return {
    append: async ({ id, entries, leaseToken, workerId, ...call }) => {
      const tenant = calls.tenantOf(call);
      if (!Array.isArray(entries)) throw invalid("'entries' must be a list.");
      const fence = {
        jobId: textIn(id, 'id'),
        ...(leaseToken !== undefined && { leaseToken }),
        ...(workerId !== undefined && { workerId }),
      };
      // A repetition stores nothing twice; without a token it might reach the run of another worker.
      const repeatable = leaseToken !== undefined;
      return appendInSlices(entries, async (some) => {
        const input = { ...fence, events: some.map(sentOf) };
        return appendedOf((await calls.call(appendEvents, input, { tenant, repeatable })).appended, calls.server);
      });
    },
    journal: async (id, query = {}) => {
      const tenant = calls.tenantOf(query);
      const limit = limitIn(query.limit, MOST_READ) ?? 0;
      const input = { jobId: textIn(id, 'id'), ...filterOf(query), cursor: query.cursor ?? '', limit };
      const { events, cursor, atEnd, missed } = await calls.call(readEvents, input, { tenant });
      return { entries: events.map(entryOf), cursor, atEnd, missed };
    },
    follow: (id, query = {}) => follow(calls, id, query),
  };
}

function filterOf({ run, fromSequence, fromTime, types = [] }: JournalReadQuery | FollowJobQuery) {
  return {
    ...(run !== undefined && { run }),
    ...(fromSequence !== undefined && { fromSequence: wholeOf(fromSequence, 'fromSequence') }),
    ...(fromTime !== undefined && { fromTime: timeOf(fromTime) }),
    types: [...types],
  };
}

/** Each connection begins behind the last item that was handed on: by its cursor, so that nothing comes twice. */
async function* follow(calls: RpcCalls, id: string, query: FollowJobQuery): AsyncGenerator<FollowedItem> {
  const tenant = calls.tenantOf(query);
  const { lifecycle = false, stay = false, signal } = query;
  const asked = { jobId: textIn(id, 'id'), ...filterOf(query), lifecycle, stay };
  let cursor = query.cursor ?? '';
  let isLive = false;
  const open = async function* (away: AbortSignal, onOpen: () => void) {
    for await (const one of calls.stream(
      streamEvents,
      { ...asked, cursor },
      { tenant, signal: away, isPrompt: true },
    )) {
      onOpen();
      yield one;
    }
  };
  for await (const { item, cursor: place } of resumed<StreamEventsResponse>(calls, {
    signal,
    open,
    endsByItself: true,
  })) {
    switch (item.case) {
      case 'event':
        cursor = place;
        yield { kind: 'entry', cursor, entry: entryOf(item.value) };
        break;
      case 'lifecycle':
        cursor = place;
        yield { kind: 'event', cursor, event: eventFromRpc(item.value) };
        break;
      case 'missed':
        query.onMissed?.();
        break;
      case 'live':
        // Each connection comes to the end of what was there.
        if (!isLive) query.onLive?.();
        isLive = true;
        break;
    }
  }
}

/** Bytes of their own: those of a message are a part of what the connection has read, and would keep all of it. */
function entryOf(event: JobEvent): JournalEntry {
  const entry = entryFromRpc(event);
  return entry.output === undefined ? entry : { ...entry, output: new Uint8Array(entry.output) };
}

function sentOf(entry: NewEntry): JobEvent {
  try {
    return newEntryToRpc(entry);
  } catch {
    throw invalid("An entry must have a 'sequence', a 'type', bytes as 'output', and milliseconds since 1970 as 'at'.");
  }
}

function appendedOf(appended: AppendedEvents | undefined, server: string): Appended {
  if (!appended)
    throw new RemoteError({ code: 'internal', message: `The server ${server} has not answered what it stored.` });
  const { run, stored, head, cut } = appended;
  return { run, stored, head: head === undefined ? null : countOf(head, 'head'), cut };
}

function wholeOf(value: number, field: string): bigint {
  if (Number.isSafeInteger(value)) return BigInt(value);
  throw refused(field, 'must be a whole number.');
}
