import { type ApplyAnswer, type Change, JOB_STATES, type Job, type WriteOptions } from '@waybill/core';
import { type Base, isDuplicate } from './base.ts';
import { readyQueues } from './bell.ts';
import { applyColumns, finishParameters, isPlainEnd } from './columns.ts';
import { keyOf } from './keys.ts';
import { isUnclaimed, LimitBook } from './limit-book.ts';
import { codeOf } from './link/failures.ts';
import type { Queryable } from './link/link.ts';
import { isId } from './rows.ts';
import { lockKeys } from './unique-keys.ts';
import { wavesOf } from './waves.ts';

const LOST: ApplyAnswer = { status: 'lost' };
const APPLIED: ApplyAnswer = { status: 'applied', repeated: false, admitted: [] };
const REPEATED: ApplyAnswer = { status: 'applied', repeated: true, admitted: [] };

/** Changes of one kind, and where their answers belong. */
type Part = [change: Change, index: number][];

export async function apply(base: Base, changes: readonly Change[], options?: WriteOptions): Promise<ApplyAnswer[]> {
  const ends = commonEnds(changes);
  if (ends === null) return applyBy(finish, base, changes, options);
  const found = await finish(base, ends);
  if (found.every((answer) => answer === APPLIED)) return found;
  const answerTo = new Map(ends.map((change, index) => [change, found[index]!]));
  return changes.map((change) => answerTo.get(change)!);
}

/** The order in which rows are locked. */
const byId = (a: Change, b: Change): number => (a.job.id < b.job.id ? -1 : 1);

/** The changes in the order of their ids where all are plain ends of different jobs, as they are in most flushes. */
function commonEnds(changes: readonly Change[]): Change[] | null {
  const tenant = changes[0]?.job.tenant;
  if (tenant === undefined) return null;
  if (!changes.every((change) => isPlainEnd(change) && change.job.tenant === tenant && isId(change.job.id)))
    return null;
  const ends = changes.toSorted(byId);
  return ends.some(({ job }, index) => job.id === ends[index - 1]?.job.id) ? null : ends;
}

/**
 * In a transaction that may last: finish_v2 would keep all bundles of the claim locked so long, also those that the job
 * is not in, and with them the heartbeats of their runs.
 */
export function applyInside(base: Base, changes: readonly Change[]): Promise<ApplyAnswer[]> {
  return applyBy(applyPlain, base, changes);
}

/** `end` is for the common end of a run. */
async function applyBy(
  end: How,
  base: Base,
  changes: readonly Change[],
  options?: WriteOptions,
): Promise<ApplyAnswer[]> {
  const answers = changes.map(() => LOST);
  const changed: Job[] = [];
  for (const wave of wavesIn(changes)) {
    const parts = partsOf(
      end,
      wave.filter(([{ job }]) => isId(job.id)),
    );
    await Promise.all(
      parts.map(async ([how, part]) => {
        const found = await how(
          base,
          part.map(([change]) => change),
          options,
        );
        for (const [at, [change, index]] of part.entries()) {
          const answer = found[at]!;
          answers[index] = answer;
          if (answer.status === 'applied' && !answer.repeated) changed.push(change.job, ...answer.admitted);
        }
      }),
    );
  }
  base.bell.ready(changed);
  return answers;
}

/** Nearly always one, and to see that is all that most flushes pay for. */
function wavesIn(changes: readonly Change[]): Part[] {
  const areDistinct = new Set(changes.map(({ job }) => job.id)).size === changes.length;
  if (areDistinct) return [changes.map((change, index) => [change, index])];
  const waves = wavesOf(changes, ({ job }) => [keyOf(job.tenant, job.id)]);
  return waves.map((wave) => wave.map((index) => [changes[index]!, index]));
}

type How = (base: Base, changes: readonly Change[], options?: WriteOptions) => Promise<ApplyAnswer[]>;

/** By tenant and by what they need, each in the order of ids, which is the order of locks. */
function partsOf(end: How, wave: Part): [How, Part][] {
  const byTenant = Map.groupBy(wave, ([{ job }]) => job.tenant);
  return [...byTenant.values()].flatMap((of) =>
    [...Map.groupBy(of, ([change]) => howTo(end, change))].map(([how, part]): [How, Part] => [
      how,
      part.sort(([a], [b]) => byId(a, b)),
    ]),
  );
}

function howTo(end: How, change: Change): How {
  if (isPlainEnd(change)) return end;
  return change.job.limitKey !== null || change.ownsKey ? applyGuarded : applyPlain;
}

/** finish_v2 has met a run that is over, or is another's. */
const NOT_ALL_RUN = 'WB001';

async function finish(base: Base, changes: readonly Change[]): Promise<ApplyAnswer[]> {
  try {
    await base.link.query(base.sql.finish, finishParameters(changes[0]!.job.tenant, changes));
    return changes.map(() => APPLIED);
  } catch (error) {
    const isRefused = isDuplicate(error) || (error instanceof Error && codeOf(error.cause) === NOT_ALL_RUN);
    if (isRefused) return applyPlain(base, changes);
    throw error;
  }
}

async function applyPlain(base: Base, changes: readonly Change[]): Promise<ApplyAnswer[]> {
  const effects = await write(base, base.link, changes);
  return effects.map((effect) => (effect === null ? LOST : effect.repeated ? REPEATED : APPLIED));
}

/** What a change did: its row as it was before. */
export interface Effect {
  repeated: boolean;
  was: Pick<Job, 'state' | 'holdsSlot'>;
}

/** Writes changes of one tenant, no two of one job, in the order of their ids; null: lost. */
export async function write(base: Base, to: Queryable, changes: readonly Change[]): Promise<(Effect | null)[]> {
  const { bell, sql } = base;
  const wake = bell.payload(readyQueues(changes.map(({ job }) => job)));
  const parameters = [...applyColumns(changes[0]!.job.tenant, changes), wake];
  const rows = await to.query<[number, boolean, number | null, boolean | null]>(sql.apply, parameters);
  const effects: (Effect | null)[] = changes.map(() => null);
  for (const [n, repeated, state, holdsSlot] of rows) {
    const was = { state: JOB_STATES[(state ?? 1) - 1]!, holdsSlot: holdsSlot ?? false };
    effects[n - 1] = { repeated, was };
  }
  return effects;
}

/** Changes that move slots, or that need a unique key to be their job's own: what they depend on is locked first. */
function applyGuarded(
  base: Base,
  changes: readonly Change[],
  { lockWaitMs }: WriteOptions = {},
): Promise<ApplyAnswer[]> {
  const { tenant } = changes[0]!.job;
  return base.link.transaction(
    async (tx) => {
      const limited = changes.map(({ job }) => job.limitKey).filter((key) => key !== null);
      const names = limited.map((key) => ({ tenant, key }));
      const book = await LimitBook.lock(base, tx, names, base.link.clock.now());
      const owned = changes.flatMap(({ job, ownsKey }) => (ownsKey && job.uniqueKey !== null ? [job.uniqueKey] : []));
      const owners = await lockKeys(
        base,
        tx,
        owned.map((key) => ({ tenant, key })),
      );
      const isFree = ({ job, ownsKey }: Change) =>
        !ownsKey || job.uniqueKey === null || owners.get(keyOf(tenant, job.uniqueKey)) === job.id;
      const allowed = changes.filter(isFree);
      const effects = allowed.length === 0 ? [] : await write(base, tx, allowed);
      const answers = new Map<Change, ApplyAnswer>();
      for (const [at, change] of allowed.entries()) {
        const effect = effects[at]!;
        if (effect === null) continue;
        answers.set(change, effect.repeated ? REPEATED : { status: 'applied', repeated: false, admitted: [] });
        if (!effect.repeated) countChange(book, change, effect);
      }
      await admitAfter(
        book,
        allowed.filter((change) => change.slot && isNew(answers.get(change))),
        answers,
      );
      await book.write();
      return changes.map((change) => answers.get(change) ?? LOST);
    },
    { lockWaitMs },
  );
}

const isNew = (answer: ApplyAnswer | undefined): boolean => answer?.status === 'applied' && !answer.repeated;

/** Keeps the counts of the job's limit true. */
export function countChange(book: LimitBook, { job, limit }: Change, { was }: Effect): void {
  if (job.limitKey === null) return;
  if (limit) book.bringBack(job.tenant, job.limitKey, limit);
  const holders = Number(job.holdsSlot) - Number(was.holdsSlot);
  book.count(job.tenant, job.limitKey, { holders, unclaimed: isUnclaimed(job) - isUnclaimed(was) });
  book.notice(job.tenant, job.limitKey);
}

/** A job that was admitted itself is told with its own change, others with the first change of their key. */
async function admitAfter(
  book: LimitBook,
  changes: readonly Change[],
  answers: Map<Change, ApplyAnswer>,
): Promise<void> {
  const byKey = Map.groupBy(changes, ({ job }) => job.limitKey);
  for (const [key, of] of byKey) {
    if (key === null) continue;
    for (const job of await book.admit(of[0]!.job.tenant, key)) {
      const change = of.find((one) => one.job.id === job.id) ?? of[0]!;
      const answer = answers.get(change);
      if (answer?.status === 'applied') answer.admitted.push(job);
    }
  }
}
