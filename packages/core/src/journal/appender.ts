import { checkPrintable } from '../check.ts';
import { GroupCommit } from '../commit/group-commit.ts';
import type { Writer } from '../commit/writer.ts';
import { WaybillError } from '../errors.ts';
import { type LeaseToken, parseToken } from '../job/lease.ts';
import type { RunFence } from '../job/progress.ts';
import { checkId } from '../read-query.ts';
import { checkQueueOf, refusal } from '../settle/refusal.ts';
import { type AppendAnswer, type AppendRequest, BEFORE_ALL, type JournalStore } from '../store/journal.ts';
import type { JobKey } from '../store/query.ts';
import type { Store } from '../store/store.ts';
import type { AppendCall, Appended } from '../waybill.ts';
import { batchOf, slicesOf } from './batches.ts';
import { type CheckedEntry, checkEntries } from './check-entries.ts';
import { CUT_TYPE, ENTRY_OVERHEAD, isProcessType } from './entry.ts';
import { firstOfType, sequencesOf } from './reader.ts';

/** Batches of one flush; each may have a quarter of a megabyte. */
const PER_FLUSH = 64;
/** Appends under way at once, where each is a call of its own. */
const APART_AT_ONCE = 64;
/** A journal with this weight was cut: whatever it was before, no bound lets more of it in. */
const CUT_WEIGHT = 2 ** 50;
/** With a blob store. Larger than that an entry is a payload, and followers do not get it live. */
const LARGEST_ENTRY = 16 * 1_024 * 1_024;

interface AppenderParts {
  store: Store;
  journal: JournalStore;
  writer: Writer;
  /** Of all runs of a job together. */
  mostBytes: number;
  /** Whether bodies that are too large for the store are kept elsewhere. */
  hasBlobs: boolean;
}

/** What one call is about. */
interface AppendTarget extends JobKey {
  by: RunFence;
  token: LeaseToken | undefined;
  workerId: string | undefined;
  queue: string | undefined;
}

/** Writes entries of runs into the store: checked, in order, grouped into batches and transactions. */
export class Appender {
  readonly #parts: AppenderParts;
  readonly #commit: GroupCommit<AppendRequest, AppendAnswer>;
  /** The last call of each run that has one under way: two of one run must not overtake each other. */
  readonly #lanes = new Map<string, Promise<unknown>>();
  readonly #mostBytes: number;

  constructor(parts: AppenderParts) {
    const { journal, store } = parts;
    const { maxJournalBytes = 0, parallelFlushes, appendsApart = false } = store.capabilities;
    this.#parts = parts;
    this.#mostBytes = parts.hasBlobs ? LARGEST_ENTRY : maxJournalBytes - ENTRY_OVERHEAD;
    this.#commit = new GroupCommit({
      flush: (requests) => journal.append(requests),
      ...(appendsApart ? { maxItems: 1, parallel: APART_AT_ONCE } : { maxItems: PER_FLUSH, parallel: parallelFlushes }),
      sizeOf: ({ batch }) => batch.body.length,
    });
  }

  async append({ tenant = '', id, entries: given, leaseToken, workerId, queue }: AppendCall): Promise<Appended> {
    checkId(id);
    const token = leaseToken === undefined ? undefined : parseToken(leaseToken);
    if (workerId !== undefined) checkPrintable('workerId', workerId);
    const entries = checkEntries(given, this.#parts.store.clock.now(), this.#mostBytes);
    const by = token ? { run: token.run, claimId: token.claimId } : workerId === undefined ? 'anyone' : { workerId };
    const target = { tenant, id, by, token, workerId, queue } as const;
    return this.#inTurn(`${tenant}\n${id}`, async () => {
      const all: Appended = { run: 0, stored: 0, head: null, cut: 0 };
      for (const slice of slicesOf(entries)) {
        const { run, stored, head, cut } = await this.#slice(target, slice);
        Object.assign(all, { run, head: head ?? all.head, stored: all.stored + stored, cut: all.cut + cut });
      }
      return all;
    });
  }

  /** Resolves when every call is answered. Between two slices of a call no commit is under way, so waiting for commits is not enough. */
  async idle(): Promise<void> {
    while (this.#lanes.size > 0) await Promise.allSettled(this.#lanes.values());
    await this.#commit.idle();
  }

  async #inTurn<T>(lane: string, work: () => Promise<T>): Promise<T> {
    const before = this.#lanes.get(lane);
    const mine = before ? before.then(work, work) : work();
    this.#lanes.set(lane, mine);
    try {
      return await mine;
    } finally {
      if (this.#lanes.get(lane) === mine) this.#lanes.delete(lane);
    }
  }

  async #slice(target: AppendTarget, entries: readonly CheckedEntry[]): Promise<Appended> {
    let left = entries;
    let cut = 0;
    const withCut = (appended: Appended): Appended => ({ ...appended, cut: appended.cut + cut });
    while (left.length > 0) {
      const answer = await this.#write(target, left, this.#parts.mostBytes);
      if (answer.status === 'stored') return withCut(storedBy(answer.run, left));
      if (answer.status === 'full') return withCut(await this.#cut(target, left, answer));
      const unknown = await this.#unknownOf(target, left, answer);
      left = unknown.entries;
      cut += unknown.cut;
      if (left.length === 0) return { run: answer.run, stored: 0, head: answer.head, cut };
    }
    throw new Error('A call without entries was let through.');
  }

  async #write(
    target: AppendTarget,
    entries: readonly CheckedEntry[],
    atMost: number,
    weight?: number,
  ): Promise<Exclude<AppendAnswer, { status: 'lost' }>> {
    const { token, workerId, tenant, id, by, queue } = target;
    const { store, writer } = this.#parts;
    const batch = await batchOf(entries);
    const now = store.clock.now();
    const answer = await this.#commit.run({
      ...{ tenant, id, by, now, ...batch },
      ...(weight === undefined ? { atMost } : { weight }),
    });
    if (answer.status !== 'lost') return answer;
    const job = await writer.mustRead({ tenant, id });
    checkQueueOf(job, queue);
    throw refusal(job, token, workerId);
  }

  /**
   * Those behind what is stored. An entry before it that is not stored itself must not be taken for one that is: another
   * process has written in its place, or it came too late. Unless the journal was cut: then it was left out before.
   */
  async #unknownOf(
    { tenant, id }: AppendTarget,
    entries: readonly CheckedEntry[],
    { run, head }: { run: number; head: number },
  ): Promise<{ entries: CheckedEntry[]; cut: number }> {
    const old = entries.filter(({ sequence }) => sequence <= head);
    const isStored = await sequencesOf(this.#parts.journal, { tenant, id }, run, old[0]!.sequence, head);
    const missing = old.filter(({ sequence }) => !isStored(sequence));
    const isCut = missing.length > 0 && (await this.#cutOf({ tenant, id }));
    const late = missing.find(({ sequence, type }) => !isCut || isProcessType(type) || !isCut(run, sequence));
    if (late) throw outOfOrder(late.sequence, run, head);
    return { entries: entries.filter(({ sequence }) => sequence > head), cut: missing.length };
  }

  /** Tells which entries came after the journal was cut; false where it was not. */
  async #cutOf(key: JobKey): Promise<false | ((run: number, sequence: number) => boolean)> {
    const place = await firstOfType(this.#parts.journal, key, CUT_TYPE);
    return (
      place !== undefined && ((run, sequence) => run > place.run || (run === place.run && sequence > place.sequence))
    );
  }

  /** One entry marks that the rest is missing, in the place of the first that is. Entries of processes are still stored. */
  async #cut(
    target: AppendTarget,
    entries: readonly CheckedEntry[],
    { run, head, weight }: { run: number; head: number; weight: number },
  ): Promise<Appended> {
    const { mostBytes } = this.#parts;
    const isCut = weight >= CUT_WEIGHT;
    const structural = entries.filter(({ type }) => isProcessType(type));
    const first = entries.find((entry) => !structural.includes(entry));
    const kept = isCut || !first ? structural : bySequence([cutEntry(first, mostBytes), ...structural]);
    const cut = entries.length - structural.length;
    const none = { run, stored: 0, head: head === BEFORE_ALL ? null : head, cut: entries.length };
    if (kept.length === 0) return none;
    // What processes came to has as much room again as all the rest, and no more.
    const atMost = 2 * mostBytes + (isCut ? CUT_WEIGHT : 0);
    const answer = await this.#write(target, kept, atMost, isCut || !first ? undefined : CUT_WEIGHT);
    if (answer.status === 'stored') return { ...storedBy(run, kept), stored: structural.length, cut };
    if (answer.status === 'full' && !isCut)
      await this.#write(target, [cutEntry(entries[0]!, mostBytes)], mostBytes, CUT_WEIGHT);
    return answer.status === 'full' ? none : { ...none, head: answer.head };
  }
}

const bySequence = (entries: CheckedEntry[]): CheckedEntry[] => entries.sort((a, b) => a.sequence - b.sequence);

const storedBy = (run: number, entries: readonly CheckedEntry[]): Appended => ({
  ...{ run, stored: entries.length, head: entries.at(-1)!.sequence, cut: 0 },
});

const cutEntry = ({ sequence, at }: CheckedEntry, mostBytes: number): CheckedEntry => ({
  ...{ sequence, at, type: CUT_TYPE, bytes: ENTRY_OVERHEAD },
  data: { max_bytes: mostBytes, message: 'What follows was not kept: the journal of this job has its full size.' },
});

const outOfOrder = (sequence: number, run: number, head: number): WaybillError =>
  new WaybillError('conflict', `Entry ${sequence} is not stored, and run ${run} has come to ${head} without it.`, {
    details: { sequence, run, head },
    hint: 'The entries of a run have growing sequences, and one process writes them.',
  });
