import type { JournalBatch, JournalPage, JournalPlace, JournalQuery, JournalStore } from '../store/journal.ts';
import { BEFORE_ALL } from '../store/journal.ts';
import type { JobKey } from '../store/query.ts';
import { opened, unpack } from './codec.ts';
import { type JournalEntry, UNREADABLE_TYPE } from './entry.ts';
import { LOSS_TYPES } from './losses.ts';

const BATCHES = 100;
/** What one read holds in memory, before it is unpacked. */
const BYTES = 1_024 * 1_024;

/** Which entries a reader wants. */
export interface Wanted {
  run?: number | undefined;
  fromSequence?: number | undefined;
  fromTime?: number | undefined;
  types?: readonly string[] | undefined;
}

/** Some batches behind a place, unpacked. */
export interface Passage {
  entries: JournalEntry[];
  /** Behind all that was looked at. */
  place: JournalPlace;
  more: boolean;
  /** Something before the first of these was pruned. */
  missed: boolean;
}

/** Before the first run. */
export const START: JournalPlace = { run: 0, sequence: BEFORE_ALL };

/** Reads on behind a place. Whatever the filter lets through, the place moves on. */
export async function readOn(
  journal: JournalStore,
  key: JobKey,
  place: JournalPlace,
  wanted: Wanted,
): Promise<Passage> {
  const page = await journal.read({ ...key, ...queryOf(place, wanted), limit: BATCHES, maxBytes: BYTES });
  const missed = await hasMissed(journal, key, place, wanted, page);
  const last = page.batches.at(-1);
  const entries = (await Promise.all(page.batches.map(entriesOf))).flat().filter(isWanted(place, wanted));
  return {
    entries,
    place: last ? { run: last.run, sequence: last.last } : place,
    more: page.more,
    missed,
  };
}

/**
 * Whether something that is wanted was pruned. A filter leaves batches out, and then their chain cannot tell: the first batch that is
 * left does, because retention removes the oldest ones.
 */
async function hasMissed(
  journal: JournalStore,
  key: JobKey,
  place: JournalPlace,
  wanted: Wanted,
  page: JournalPage,
): Promise<boolean> {
  const { types, fromTime, ...plain } = wanted;
  if (types === undefined && fromTime === undefined) return hasGap(place, page, wanted);
  const next = await journal.read({ ...key, ...queryOf(place, plain), limit: 1, maxBytes: 1 });
  const isOlder = fromTime === undefined || next.batches.some(({ firstAt }) => firstAt > fromTime);
  return isOlder && hasGap(place, next, wanted);
}

function queryOf(place: JournalPlace, { run, fromSequence, fromTime, types }: Wanted): Partial<JournalQuery> {
  // Of one run the batches before the sequence need not be read.
  const isBefore = run !== undefined && fromSequence !== undefined && !isBehind(place, run, fromSequence - 1);
  return {
    after: isBefore ? { run, sequence: fromSequence - 1 } : place,
    ...(run !== undefined && { run }),
    ...(fromTime !== undefined && { fromAt: fromTime }),
    ...(types && { types: [...types, ...LOSS_TYPES] }),
  };
}

/** Whether this place is at or behind the entry. */
export const isBehind = (place: JournalPlace, run: number, sequence: number): boolean =>
  place.run > run || (place.run === run && place.sequence >= sequence);

const isWanted =
  (place: JournalPlace, { run, fromSequence = 0, fromTime = 0, types }: Wanted) =>
  (entry: JournalEntry): boolean =>
    !isBehind(place, entry.run, entry.sequence) &&
    (run === undefined || entry.run === run) &&
    entry.sequence >= fromSequence &&
    entry.at >= fromTime &&
    (types === undefined || types.includes(entry.type) || LOSS_TYPES.includes(entry.type));

export const wants = (wanted: Wanted, entry: JournalEntry): boolean => isWanted(START, wanted)(entry);

/** Batches are a chain: each names the one before it. */
function hasGap(place: JournalPlace, { batches }: JournalPage, { fromSequence = 0 }: Wanted): boolean {
  let [run, sequence] = [place.run, Math.max(place.sequence, fromSequence - 1)];
  for (const batch of batches) {
    const before = batch.run === run ? sequence : Math.max(BEFORE_ALL, fromSequence - 1);
    if (batch.after > before) return true;
    ({ run, last: sequence } = batch);
  }
  return false;
}

/** A batch that cannot be read becomes an entry that says so, and does not hide the others. */
async function entriesOf({ run, first, last, firstAt, body }: JournalBatch): Promise<JournalEntry[]> {
  try {
    return unpack(await opened(body), run);
  } catch {
    return [{ run, sequence: first, at: firstAt, type: UNREADABLE_TYPE, data: { first, last } }];
  }
}

/** Tells which sequences of a run are stored, between two that are. */
export async function sequencesOf(
  journal: JournalStore,
  key: JobKey,
  run: number,
  first: number,
  last: number,
): Promise<(sequence: number) => boolean> {
  const stored = new Set<number>();
  let oldest: number | undefined;
  for (let place: JournalPlace = { run, sequence: first - 1 }; place.sequence < last; ) {
    const { batches, more } = await journal.read({ ...key, run, after: place, limit: BATCHES, maxBytes: BYTES });
    oldest ??= batches[0]?.after;
    for (const batch of batches) for (const { sequence } of await entriesOf(batch)) stored.add(sequence);
    if (!more) break;
    place = { run, sequence: batches.at(-1)!.last };
  }
  // What retention has removed since was stored.
  return (sequence) => stored.has(sequence) || (oldest !== undefined && oldest >= first && sequence <= oldest);
}

/** Where the first entry of a type stands; undefined where there is none. */
export async function firstOfType(journal: JournalStore, key: JobKey, type: string): Promise<JournalPlace | undefined> {
  for (let place = START; ; ) {
    const passage = await readOn(journal, key, place, { types: [type] });
    const found = passage.entries.find((entry) => entry.type === type);
    if (found) return { run: found.run, sequence: found.sequence };
    if (!passage.more) return undefined;
    ({ place } = passage);
  }
}
