import {
  type Change,
  type InsertAnswer,
  type InsertGroup,
  type Job,
  type NewJob,
  type TakenKey,
  takenAnswer,
  type WriteOptions,
} from '@waybill/core';
import { countChange, write } from './apply.ts';
import { type Base, despiteRivals } from './base.ts';
import { type Clash, clashesOf } from './clashes.ts';
import { enterWorkflow, insertEdges } from './enter-workflow.ts';
import { get } from './get.ts';
import { keyOf } from './keys.ts';
import { LimitBook, type LimitName, type Newcomer } from './limit-book.ts';
import type { Queryable } from './link/link.ts';
import { openBundles, replacedBy } from './open-bundles.ts';
import { store } from './store-jobs.ts';
import { giveKeys, lockKeys } from './unique-keys.ts';

/** Groups with limits, unique keys, edges or workflows: whatever they depend on is locked first, then decided on. */
export function insertGuarded(
  base: Base,
  groups: readonly InsertGroup[],
  { lockWaitMs }: WriteOptions = {},
): Promise<InsertAnswer[]> {
  return despiteRivals(() => base.link.transaction((tx) => insertInside(base, tx, groups), { lockWaitMs }));
}

/** In a transaction that may do more. No two groups may share a key. */
export async function insertInside(base: Base, tx: Queryable, groups: readonly InsertGroup[]): Promise<InsertAnswer[]> {
  const book = await LimitBook.lock(base, tx, limitsOf(groups), base.link.clock.now());
  const made = groups.flatMap(({ jobs }) => jobs);
  const uniques = made.flatMap(({ job, unique }) => (unique ? [{ tenant: job.tenant, key: unique.key }] : []));
  const ownerIds = await lockKeys(base, tx, uniques);
  await openBundles(base, tx, replacedBy(made));
  const owners = await ownersOf(base, tx, ownerIds);
  const clashes = await clashesByJob(base, tx, made);
  const desk: Desk = { base, tx, book, owners, clashes, newcomers: new Map(), admitted: new Map() };
  const refusals: (InsertAnswer | null)[] = [];
  for (const group of groups) refusals.push(await decide(desk, group));

  const accepted = groups.filter((_, index) => refusals[index] === null);
  const stored = (one: NewJob): NewJob => ({ ...one, job: desk.newcomers.get(one)!.job });
  const rows = accepted.flatMap(({ jobs }) => jobs.map(stored));
  for (const part of Map.groupBy(rows, ({ job }) => job.tenant).values()) await store(base, tx, part);
  for (const { jobs, edges = [] } of accepted) await insertEdges(base, tx, jobs[0]?.job.tenant ?? '', edges);
  await book.write();
  return groups.map(({ jobs }, index) => {
    const admitted = desk.admitted.get(jobs) ?? [];
    return refusals[index] ?? { status: 'inserted', jobs: jobs.map((one) => stored(one).job), admitted };
  });
}

async function clashesByJob(base: Base, tx: Queryable, made: readonly NewJob[]): Promise<Map<Job, Clash[]>> {
  const found = new Map<Job, Clash[]>();
  const jobs = made.map(({ job }) => job);
  for (const of of Map.groupBy(jobs, ({ tenant }) => tenant).values()) {
    for (const clash of await clashesOf(base, tx, of)) {
      const job = of[clash.index]!;
      found.set(job, [...(found.get(job) ?? []), clash]);
    }
  }
  return found;
}

function limitsOf(groups: readonly InsertGroup[]): LimitName[] {
  const jobs = groups.flatMap((group) => group.jobs).flatMap(({ job, unique }) => [job, unique?.replace?.job]);
  return jobs.flatMap((job) => (job && job.limitKey !== null ? [{ tenant: job.tenant, key: job.limitKey }] : []));
}

/** The jobs that have the keys, locked so that they stay what they are. */
async function ownersOf(base: Base, tx: Queryable, ids: Map<string, string | null>): Promise<Map<string, Job>> {
  const keys = [...ids].flatMap(([key, id]) =>
    id === null ? [] : [{ key, id, tenant: key.slice(0, key.indexOf('\n')) }],
  );
  if (keys.length === 0) return new Map();
  for (const [tenant, of] of Map.groupBy(keys, ({ tenant }) => tenant)) {
    await tx.query(base.sql['jobs-lock'], [tenant, `{${of.map(({ id }) => id).join(',')}}`]);
  }
  const jobs = await get(base, keys, tx);
  return new Map(keys.flatMap(({ key }, index) => (jobs[index] ? [[key, jobs[index]] as const] : [])));
}

interface Desk {
  base: Base;
  tx: Queryable;
  book: LimitBook;
  /** From a unique key to the job that has it. */
  owners: Map<string, Job>;
  /** What is in the way of a job. */
  clashes: Map<Job, Clash[]>;
  /** The jobs that go in, as they will be stored. */
  newcomers: Map<NewJob, Newcomer>;
  /** Rows that were there before and got a slot, by the group that made room for them. */
  admitted: Map<InsertGroup['jobs'], Job[]>;
}

/** Answers what keeps a group out, or makes room for it: null. */
async function decide(desk: Desk, { jobs, workflow }: InsertGroup): Promise<InsertAnswer | null> {
  const { base, tx, book } = desk;
  const tenant = jobs[0]?.job.tenant ?? '';
  const refusal = (await findClash(desk, jobs)) ?? findTaken(desk, jobs);
  if (refusal) return refusal;
  const outside = workflow ? await enterWorkflow(base, tx, tenant, workflow, jobs) : null;
  if (outside) return outside;

  const admitted = await replaceOwners(desk, jobs);
  for (const one of jobs) {
    const newcomer = { job: one.job };
    desk.newcomers.set(one, newcomer);
    const { limitKey } = one.job;
    if (limitKey === null) continue;
    if (one.limit) book.setRule(tenant, limitKey, one.limit);
    book.expect(newcomer);
  }
  for (const key of new Set(jobs.map(({ job }) => job.limitKey))) {
    if (key !== null) admitted.push(...(await book.admit(tenant, key)));
  }
  desk.admitted.set(jobs, admitted);
  return null;
}

/** Ids before keys: whoever repeats a call shall learn that it was done, whatever has become of keys meanwhile. */
async function findClash({ base, tx, clashes }: Desk, made: readonly NewJob[]): Promise<InsertAnswer | null> {
  const jobs = made.map(({ job }) => job);
  const isSameId = (one: Job, other: Job) => one.id === other.id;
  const isSameKey = (one: Job, other: Job) =>
    one.idempotencyKey !== null && one.idempotencyKey === other.idempotencyKey;
  for (const [status, isSame] of [
    ['exists', isSameId],
    ['repeated', isSameKey],
  ] as const) {
    for (const [index, job] of jobs.entries()) {
      const clash = clashes.get(job)?.find(({ kind }) => kind === status);
      const [owner] = clash ? await get(base, [{ tenant: clash.tenant, id: clash.owner }], tx) : [];
      const other = owner ?? jobs.slice(0, index).find((earlier) => isSame(earlier, job));
      if (other) return { status, index, job: other };
    }
  }
  return null;
}

/** Looks at all unique keys of a group before anything is written. */
function findTaken({ owners }: Desk, jobs: readonly NewJob[]): InsertAnswer | null {
  const ours = new Map<string, Job>();
  const taken: TakenKey[] = [];
  for (const [index, { job, unique }] of jobs.entries()) {
    if (!unique) continue;
    const key = keyOf(job.tenant, unique.key);
    const sibling = ours.get(key);
    const owner = sibling ?? owners.get(key);
    const isExpected = owner && unique.owner?.id === owner.id && unique.owner.version === owner.version;
    // When the expected owner's row is gone, nobody is left who could be in the way.
    if (!owner || (isExpected && (!unique.replace || fits(unique.replace, owner)))) ours.set(key, job);
    else if (!sibling || taken.length === 0) taken.push({ index, job: owner });
  }
  return takenAnswer(taken) ?? null;
}

/** Whether a change would be applied to a row that is locked. */
function fits({ expect, job }: Change, row: Job): boolean {
  if (job.id !== row.id) return false;
  if (expect.by === 'lease') {
    return row.state === 'active' && row.run === expect.run && row.claimId === expect.claimId;
  }
  return row.version === expect.version && row.nextAt === expect.nextAt && row.holdsSlot === expect.holdsSlot;
}

/** Gives the keys away. A slot that an owner leaves is others' first; answers these. */
async function replaceOwners({ base, tx, book, owners }: Desk, jobs: readonly NewJob[]): Promise<Job[]> {
  const admitted: Job[] = [];
  for (const { job, unique } of jobs) {
    // An owner whose row is gone can be replaced no more.
    if (!unique?.replace || !owners.has(keyOf(job.tenant, unique.key))) continue;
    const [effect] = await write(base, tx, [unique.replace]);
    if (!effect) throw new Error(`The owner of a unique key changed although it was locked: ${unique.replace.job.id}.`);
    countChange(book, unique.replace, effect);
    const { tenant, limitKey } = unique.replace.job;
    if (unique.replace.slot && limitKey !== null) admitted.push(...(await book.admit(tenant, limitKey)));
  }
  const given = jobs.flatMap(({ job, unique }) =>
    unique ? [{ tenant: job.tenant, key: unique.key, id: job.id }] : [],
  );
  await giveKeys(base, tx, given);
  return admitted;
}
