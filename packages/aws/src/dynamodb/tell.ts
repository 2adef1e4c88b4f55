import { countedAs, type Told } from '@waybill/core';
import type { Base } from './base.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { Facts, lineOf } from './subjects.ts';
import type { Write } from './writes.ts';

/** Facts told at once: as many marks at most does a subject get, and as many items has the transaction. */
const MOST_AT_ONCE = 25;

/** Facts beyond a few are told in several parts, each of them as a whole. */
export async function tell(base: Base, told: readonly Told[]): Promise<void> {
  for (let from = 0; from < told.length; from += MOST_AT_ONCE) {
    const part = told.slice(from, from + MOST_AT_ONCE);
    await inLine(base, part, async () => ({ answer: undefined, writes: [] }));
  }
}

/** What a change has to write, and the answer to it. Null: there is nothing to change, and nothing to tell. */
export interface Planned<T> {
  answer: T;
  write: Write | null;
}

/**
 * A change of one item and the event that tells of it, in one transaction. `plan` reads the item and decides; its write is
 * refused if the item has changed since, and then it plans again.
 */
export function writeAndTell<T>(base: Base, told: Told, plan: () => Promise<Planned<T>>): Promise<T> {
  return inLine(base, [told], async () => {
    const { answer, write } = await plan();
    return { answer, writes: write && [write] };
  });
}

function inLine<T>(
  base: Base,
  told: readonly Told[],
  plan: () => Promise<{ answer: T; writes: Write[] | null }>,
): Promise<T> {
  return base.locks.run(told.map(lineOf), async () => {
    for (let round = 0; round < MOST_TRIES; round++) {
      const { answer, writes } = await plan();
      if (writes === null || (await tellOnce(base, told, writes))) return answer;
      await pause(Math.min(round, 4));
    }
    const { kind, subject } = countedAs(told[0]!);
    throw tooContended(`The ${kind} ${subject}`);
  });
}

/** False when somebody else was faster. */
async function tellOnce(base: Base, told: readonly Told[], writes: readonly Write[]): Promise<boolean> {
  const facts = await Facts.read(base, told);
  const segments = await base.log.open(facts.events);
  const marks = told.map((_, index) => segments.mark(index));
  segments.assertFresh();
  const isWritten = await base.db.transact([...writes, ...facts.writes(base, marks)]);
  const isTold = isWritten || !(await facts.areLost(base, marks));
  if (isTold) facts.trimLater(base, marks);
  else for (const index of told.keys()) segments.lose(index);
  await segments.confirm();
  return isTold;
}
