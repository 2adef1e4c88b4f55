import type { InsertAnswer, InsertGroup, NewJob, WriteOptions } from '@waybill/core';
import { type Base, despiteRivals, isDuplicate } from './base.ts';
import { clashesOf } from './clashes.ts';
import { isSimple } from './columns.ts';
import { get } from './get.ts';
import { insertGuarded } from './insert-guarded.ts';
import { keysOf } from './keys.ts';
import { noteQueues, store } from './store-jobs.ts';
import { wavesOf } from './waves.ts';

export async function insert(
  base: Base,
  groups: readonly InsertGroup[],
  options?: WriteOptions,
): Promise<InsertAnswer[]> {
  const answers = (await insertOne(base, groups)) ?? (await insertInWaves(base, groups, options));
  const stored = answers.flatMap((answer) => (answer.status === 'inserted' ? answer.jobs : []));
  noteQueues(base, stored);
  base.bell.ready(stored);
  return answers;
}

/** The short way of a job that comes by itself; null where it is not so simple, or there already. */
async function insertOne(base: Base, groups: readonly InsertGroup[]): Promise<InsertAnswer[] | null> {
  const [group] = groups;
  if (groups.length !== 1 || group!.jobs.length !== 1 || !isPlain(group!) || !isSimple(group!.jobs[0]!)) return null;
  try {
    await store(base, base.link, group!.jobs);
    return [inserted(group!)];
  } catch (error) {
    if (isDuplicate(error)) return null;
    throw error;
  }
}

async function insertInWaves(
  base: Base,
  groups: readonly InsertGroup[],
  options?: WriteOptions,
): Promise<InsertAnswer[]> {
  const answers: InsertAnswer[] = groups.map(() => ({ status: 'inserted', jobs: [], admitted: [] }));
  for (const wave of wavesOf(groups, keysOf)) {
    const { plain = [], guarded = [] } = Object.groupBy(wave, (i) => (isPlain(groups[i]!) ? 'plain' : 'guarded'));
    const tasks = [...Map.groupBy(plain, (i) => tenantOf(groups[i]!)).values()].map(async (part) => {
      const found = await insertPlain(
        base,
        part.map((i) => groups[i]!),
        options,
      );
      for (const [at, i] of part.entries()) answers[i] = found[at]!;
    });
    if (guarded.length > 0) {
      tasks.push(
        insertGuarded(
          base,
          guarded.map((i) => groups[i]!),
          options,
        ).then((found) => {
          for (const [at, i] of guarded.entries()) answers[i] = found[at]!;
        }),
      );
    }
    await Promise.all(tasks);
  }
  return answers;
}

const tenantOf = ({ jobs }: InsertGroup): string => jobs[0]?.job.tenant ?? '';

/** Nothing to lock and nothing to decide before: one statement does it. */
export function isPlain({ jobs, edges, workflow }: InsertGroup): boolean {
  if (workflow || (edges && edges.length > 0) || jobs.length === 0) return false;
  if (jobs.some(({ job, unique }) => unique || job.limitKey !== null)) return false;
  return jobs.length === 1 || !repeatsItself(jobs);
}

/** Whether two jobs of a group have the same id or idempotency key. */
function repeatsItself(jobs: readonly NewJob[]): boolean {
  const ids = new Set<string>();
  const keys = new Set<string>();
  let keyed = 0;
  for (const { job } of jobs) {
    ids.add(job.id);
    if (job.idempotencyKey === null) continue;
    keyed += 1;
    keys.add(job.idempotencyKey);
  }
  return ids.size < jobs.length || keys.size < keyed;
}

/** Tries without looking first: what is there already makes it fail, and only then somebody looks. */
function insertPlain(base: Base, groups: readonly InsertGroup[], options?: WriteOptions): Promise<InsertAnswer[]> {
  const refused = new Map<InsertGroup, InsertAnswer>();
  return despiteRivals(async () => {
    const left = groups.filter((group) => !refused.has(group));
    try {
      const made = left.flatMap(({ jobs }) => jobs);
      if (made.length > 0) await store(base, base.link, made, options);
    } catch (error) {
      if (isDuplicate(error)) await refuse(base, left, refused);
      throw error;
    }
    return groups.map((group) => refused.get(group) ?? inserted(group));
  });
}

export const inserted = ({ jobs }: InsertGroup): InsertAnswer => ({
  status: 'inserted',
  jobs: jobs.map(({ job }) => job),
  admitted: [],
});

/** Answers for the groups that something keeps out. */
async function refuse(
  base: Base,
  groups: readonly InsertGroup[],
  refused: Map<InsertGroup, InsertAnswer>,
): Promise<void> {
  const clashes = await clashesOf(
    base,
    base.link,
    groups.flatMap(({ jobs }) => jobs.map(({ job }) => job)),
  );
  const owners = await get(
    base,
    clashes.map(({ tenant, owner }) => ({ tenant, id: owner })),
  );
  let before = 0;
  for (const group of groups) {
    const [from, to] = [before, before + group.jobs.length];
    before = to;
    // `exists` before `repeated`, and of each the first.
    const found = clashes.findIndex(({ index }) => index >= from && index < to);
    const owner = owners[found];
    if (found < 0 || !owner) continue;
    const { index, kind } = clashes[found]!;
    refused.set(group, { status: kind, index: index - from, job: owner });
  }
}
