import type { Appended, FollowedItem, FollowJobQuery, Jobs, JournalReadQuery, NewEntry } from '@waybill/core';
import { appendInSlices } from '../append-slices.ts';
import { eventFromWire } from '../event-wire.ts';
import {
  entryFromWire,
  JOURNAL_MESSAGES as MESSAGES,
  newEntryToWire,
  type WireAppended,
  type WireJournalPage,
  type WireNewEntry,
} from '../journal-wire.ts';
import { path, type QueryValues } from './address.ts';
import type { Calls } from './calls.ts';
import { followStream } from './event-stream.ts';
import { invalid } from './remote-error.ts';

const where = (id: string): string => path`/ojs/v1/jobs/${id}/journal`;

export function journal(calls: Calls): Pick<Jobs, 'append' | 'journal' | 'follow'> {
  return {
    append: async ({ id, entries, leaseToken, workerId, ...call }) => {
      const tenant = calls.tenantOf(call);
      const address = where(id);
      if (!Array.isArray(entries)) throw invalid("'entries' must be a list.");
      // A repetition stores nothing twice; without a token it might reach the run of another worker.
      const repeatable = leaseToken !== undefined;
      const fence = { lease_token: leaseToken, worker_id: workerId };
      const send = async (some: readonly NewEntry[]): Promise<Appended> => {
        const body = { entries: some.map(wireOf), ...fence };
        const { run, stored, head, cut } = await calls.call<WireAppended>('POST', address, {
          tenant,
          body,
          repeatable,
        });
        return { run, stored, head, cut };
      };
      return appendInSlices(entries, send);
    },
    journal: async (id, query = {}) => {
      const tenant = calls.tenantOf(query);
      const asked = { ...filterOf(query), cursor: query.cursor, limit: query.limit };
      const page = await calls.call<WireJournalPage>('GET', where(id), { tenant, query: asked });
      const { cursor, at_end: atEnd, missed } = page;
      return { entries: page.entries.map(entryFromWire), cursor, atEnd, missed };
    },
    follow: (id, query = {}) => follow(calls, id, query),
  };
}

const filterOf = ({ run, fromSequence, fromTime, types }: JournalReadQuery | FollowJobQuery): QueryValues => ({
  ...{ run, from_sequence: fromSequence, from_time: fromTime },
  types: types?.length === 0 ? undefined : types,
});

async function* follow(calls: Calls, id: string, query: FollowJobQuery): AsyncGenerator<FollowedItem> {
  const tenant = calls.tenantOf(query);
  const { lifecycle, stay, cursor, signal } = query;
  const stream = { path: where(id), tenant, query: { ...filterOf(query), lifecycle, stay }, first: { cursor }, signal };
  let isLive = false;
  for await (const { id: place = '', event, data = '' } of followStream(calls, stream)) {
    switch (event) {
      case MESSAGES.entry:
        yield { kind: 'entry', cursor: place, entry: entryFromWire(JSON.parse(data)) };
        break;
      case MESSAGES.lifecycle:
        yield { kind: 'event', cursor: place, event: eventFromWire(JSON.parse(data), calls.whose(tenant)) };
        break;
      case MESSAGES.missed:
        query.onMissed?.();
        break;
      case MESSAGES.live:
        // Each connection comes to its end of what was there.
        if (!isLive) query.onLive?.();
        isLive = true;
        break;
      case MESSAGES.end:
        return;
    }
  }
}

function wireOf(entry: NewEntry): WireNewEntry {
  try {
    return newEntryToWire(entry);
  } catch {
    throw invalid("An entry must have a 'sequence', a 'type', bytes as 'output', and milliseconds since 1970 as 'at'.");
  }
}
