import type { Writer } from '../commit/writer.ts';
import { WaybillError } from '../errors.ts';
import { checkId, pageOf } from '../read-query.ts';
import type { JournalStore } from '../store/journal.ts';
import type { Store } from '../store/store.ts';
import type { Events, Jobs } from '../waybill.ts';
import { Appender } from './appender.ts';
import { wantedByFollower, wantedByReader } from './check-query.ts';
import { entryBytes, type JournalEntry } from './entry.ts';
import { endedState, followJob } from './follow-job.ts';
import { Followers } from './followers.ts';
import { readPosition, writePosition } from './place-cursor.ts';
import { readOn, type Wanted } from './reader.ts';

const LIMIT = 1_000;
/** What a page holds in memory; one entry is answered whatever its size. */
const PAGE_BYTES = 4 * 1_024 * 1_024;

interface JournalParts {
  store: Store;
  writer: Writer;
  events: Pick<Events, 'read' | 'end' | 'follow'>;
  mostBytes: number;
  hasBlobs: boolean;
  closing: AbortSignal;
}

export interface JobJournal extends Pick<Jobs, 'append' | 'journal' | 'follow'> {
  idle(): Promise<void>;
}

/** Appends, reads and follows journals. */
export function jobJournal(parts: JournalParts): JobJournal {
  const { store, writer, closing } = parts;
  const { journal } = store;
  if (journal === undefined) return NO_JOURNAL;
  const appender = new Appender({ ...parts, journal });
  const followers = new Followers({
    ...{ journal, clock: store.clock, capabilities: store.capabilities },
    endedState: (key) => endedState(writer, key),
  });
  return {
    append: (call) => appender.append(call),
    journal: async (id, { tenant = '', ...query } = {}) => {
      checkId(id);
      const wanted = wantedByReader(query);
      const { limit, cursor } = pageOf(query, LIMIT);
      const page = await readPage(journal, { tenant, id }, { wanted, limit, cursor });
      // Only where there is nothing it matters whether there is such a job: a journal goes with it.
      if (page.entries.length === 0) await writer.mustRead({ tenant, id });
      return page;
    },
    follow: (id, query = {}) => {
      checkId(id);
      const wanted = wantedByFollower(query);
      const signal = query.signal ? AbortSignal.any([query.signal, closing]) : closing;
      return followJob({ ...parts, journal, followers }, id, { ...query, wanted, signal });
    },
    idle: () => appender.idle(),
  };
}

async function readPage(
  journal: JournalStore,
  key: { tenant: string; id: string },
  { wanted, limit, cursor }: { wanted: Wanted; limit: number; cursor: string | undefined },
) {
  let { place } = readPosition(cursor);
  const entries: JournalEntry[] = [];
  let missed = false;
  let bytes = 0;
  for (;;) {
    const passage = await readOn(journal, key, place, wanted);
    missed ||= passage.missed;
    for (const entry of passage.entries) {
      bytes += entryBytes(entry);
      const isFull = entries.length === limit || (bytes > PAGE_BYTES && entries.length > 0);
      if (isFull) return { entries, cursor: writePosition({ place }), atEnd: false, missed };
      entries.push(entry);
      place = { run: entry.run, sequence: entry.sequence };
    }
    ({ place } = passage);
    if (!passage.more) return { entries, cursor: writePosition({ place }), atEnd: true, missed };
  }
}

const refuse = async (): Promise<never> => {
  throw new WaybillError('unsupported', 'This store keeps no journals.');
};

const NO_JOURNAL: JobJournal = {
  append: refuse,
  journal: refuse,
  // biome-ignore lint/correctness/useYield: it never gets so far.
  follow: async function* () {
    await refuse();
  },
  idle: async () => {},
};
