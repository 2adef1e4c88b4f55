import { countedAs, numbered, type SubjectEvent, type Told } from '@waybill/core';
import { encodeEvent, newestAt } from '../event-codec.ts';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import type { Queryable } from './link/link.ts';

type CountCells = [tenant: string, kind: string, subject: string, count: number, isDone: boolean, xid: string];

const nameOf = (...parts: readonly [tenant: string, kind: string, subject: string]): string => JSON.stringify(parts);

/** Tells facts about what is not a job, in the transaction that makes them true. */
export type Tell = (told: readonly Told[]) => Promise<void>;

/**
 * Runs transactions that tell. It belongs to one call: the link repeats a call whose answer was lost, and a call that was
 * committed must neither tell its facts nor make its change again, because another call may have come in between. So it
 * remembers by which transaction it tried, and rolls the repetition back.
 */
export function tellingOnce(base: Base): <T>(work: (tx: Queryable, tell: Tell) => Promise<T>) => Promise<T> {
  const attempt = teller(base);
  return async <T>(work: (tx: Queryable, tell: Tell) => Promise<T>): Promise<T> => {
    let done: { answer: T } | null = null;
    try {
      return await base.link.transaction(async (tx) => {
        let isRepeated = false;
        const answer = await work(tx, async (told) => {
          isRepeated = (await attempt(tx, told)) || isRepeated;
        });
        if (!isRepeated) return answer;
        done = { answer };
        throw new Error('The call was committed before.');
      });
    } catch (error) {
      if (done) return (done as { answer: T }).answer;
      throw error;
    }
  };
}

/** Answers whether the try before was committed, and has told this already. */
function teller({ sql }: Base): (tx: Queryable, told: readonly Told[]) => Promise<boolean> {
  let tried: string | null = null;
  return async (tx, told) => {
    if (told.length === 0) return false;
    const keys = told.map(countedAs);
    const named = Map.groupBy(keys, ({ tenant, kind, subject }) => nameOf(tenant, kind, subject));
    const subjects = [...named.values()].map(([first]) => first!);
    const rows = await tx.query<CountCells>(sql['subjects-count'], [
      textArray(subjects.map(({ tenant }) => tenant)),
      textArray(subjects.map(({ kind }) => kind)),
      textArray(subjects.map(({ subject }) => subject)),
      plainArray([...named.values()].map(({ length }) => length)),
      tried,
    ]);
    const [, , , , isDone, xid] = rows[0]!;
    if (isDone) return true;
    tried = xid;
    const counted = new Map(
      rows.map(([tenant, kind, subject, count]) => {
        const name = nameOf(tenant, kind, subject);
        return [name, count - named.get(name)!.length];
      }),
    );
    const events = told.map((one, index): SubjectEvent => {
      const { tenant, kind, subject } = keys[index]!;
      const name = nameOf(tenant, kind, subject);
      const before = counted.get(name)!;
      counted.set(name, before + 1);
      return numbered(one, before);
    });
    const body = `[${events.map(encodeEvent).join(',')}]`;
    await tx.query(sql['segment-append'], [newestAt([{ events }]), events.length, body]);
    return false;
  };
}

/** One statement, and with it what there is to tell where it has changed a row. */
export async function telling<R extends unknown[]>(
  base: Base,
  told: Told | null | undefined,
  change: (to: Queryable) => Promise<R[]>,
): Promise<R[]> {
  if (!told) return change(base.link);
  return tellingOnce(base)(async (tx, tell) => {
    const rows = await change(tx);
    if (rows.length > 0) await tell([told]);
    return rows;
  });
}
