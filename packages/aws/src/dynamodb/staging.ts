import { randomUUID } from 'node:crypto';
import type { InsertAnswer } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, any, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { edgeWrites, nodeWrites, onlyIfNew } from './edges.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { type GroupView, readGroup, tenantOf } from './group-view.ts';
import type { MarkedGroup } from './insert.ts';
import { refusal } from './insert-group.ts';
import { idempotencyWrites, replaceWrites, uniqueWrites } from './insert-plan.ts';
import type { Item, Key } from './items.ts';
import { batchKey, jobKey } from './keys.ts';
import { LimitDraft, withSlot } from './limit-draft.ts';
import { unlessFenced } from './marks.ts';
import { readJobs } from './read.ts';
import { isFree, rowPut, writeSides } from './row-writes.ts';
import { alarmAt, changingOf, fromItem, secondsOf } from './rows.ts';
import { enterWorkflow } from './workflow-items.ts';
import type { Write } from './writes.ts';

/** Staged rows that nobody committed go by themselves. */
const STAGED_KEPT_MS = 86_400_000;
/** A commit outlives everybody who may still be staging for it. */
const COMMIT_KEPT_MS = 7 * 86_400_000;
/** If the maker is not done by then, whoever sweeps finishes its group. */
const FINISH_AFTER_MS = 15_000;

/**
 * A group that no transaction can hold: its rows are staged, where nobody sees them, one item commits them all, and
 * then each is put in its place. A crash before the commit leaves nothing; after it, anybody finishes the work.
 */
export async function stageGroup(base: Base, group: MarkedGroup): Promise<InsertAnswer> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const view = await readGroup(base, group);
    const refused = await refusal(base, group, view);
    if (refused) return refused;
    await base.queues.note(group.jobs.map(({ job }) => job));
    const batch = randomUUID();
    if ((await stage(base, group, view, batch)) && (await commit(base, group, view, batch))) {
      await finishBatch(base, batch);
      const jobs = await readJobs(
        base,
        group.jobs.map(({ job }) => job),
      );
      base.wakes.jobs(jobs.filter((job) => job !== null));
      return { status: 'inserted', jobs: jobs.map((job, index) => job ?? group.jobs[index]!.job) };
    }
    await group.segments.assertUnsettled();
    await clearStaged(base, keysOf(group));
    await pause(Math.min(round, 4));
  }
  throw tooContended('What a group of jobs depends on');
}

const keysOf = ({ jobs }: MarkedGroup): Key[] => jobs.map(({ job }) => jobKey(job.tenant, job.id));

/** False when something is in the way. */
async function stage(base: Base, group: MarkedGroup, view: GroupView, batch: string): Promise<boolean> {
  const now = base.settings.clock.now();
  const rows = group.jobs.map(({ job }, index) => rowPut(base, job, group.marks[index]!));
  await writeSides(
    base,
    rows.flatMap(({ sides }) => sides),
  );
  const x = secondsOf(now + STAGED_KEPT_MS);
  const staged = await inParallel(rows, async ({ row }, index) => {
    const { job } = group.jobs[index]!;
    const put = { ...jobKey(job.tenant, job.id), bid: batch, f: JSON.stringify(row), x };
    const isOurs = any(isFree(now), equals('bid', batch));
    const written = await base.db.write({ put, if: unlessFenced(group.marks[index]!, isOurs) });
    return written.ok;
  });
  if (!staged.every((ok) => ok)) return false;
  await inParallel(onlyIfNew([...edgeWrites(group, view), ...nodeWrites(group)]), (write) => base.db.write(write));
  const keys = await inParallel(idempotencyWrites(group, view), async (write) => {
    const written = await base.db.write(write);
    return written.ok || written.old?.['j'] === ('put' in write && write.put['j']);
  });
  return keys.every((ok) => ok);
}

async function commit(base: Base, group: MarkedGroup, view: GroupView, batch: string): Promise<boolean> {
  const now = base.settings.clock.now();
  const replaced = await replaceWrites(base, group, view);
  await writeSides(base, replaced.sides);
  const item = {
    ...batchKey(batch),
    st: 'committed',
    t: tenantOf(group),
    ids: group.jobs.map(({ job }) => job.id),
    x: secondsOf(now + COMMIT_KEPT_MS),
    ...alarmAt(now + FINISH_AFTER_MS, batch, base.settings),
  };
  group.segments.assertFresh();
  return base.db.transact([
    { put: item, if: absent() },
    ...uniqueWrites(group, view),
    ...replaced.writes,
    ...enterWorkflow(group),
  ]);
}

/** Puts the rows of a committed group in their places; false when it was not committed. */
export async function finishBatch(base: Base, batch: string): Promise<boolean> {
  const item = await base.db.get(batchKey(batch));
  if (item?.['st'] !== 'committed') return false;
  const ids = (item['ids'] as readonly string[] | undefined) ?? [];
  const tenant = item['t'] as string;
  const rows = await base.db.getAll(ids.map((id) => jobKey(tenant, id)));
  const staged = rows.filter((row) => row?.['bid'] === batch).map((row) => JSON.parse(row!['f'] as string) as Item);
  await inParallel(
    staged.filter((row) => !('lk' in row)),
    (row) => base.db.write({ put: row, if: equals('bid', batch) }),
  );
  // In the order given, which is the order of their places in line.
  for (const row of staged.filter((one) => 'lk' in one)) await placeLimited(base, row, batch);
  // The item itself stays: somebody who still stages for this batch must find that it is over.
  await base.db.write({ update: batchKey(batch), change: { remove: ['ids', 'dp', 'dn'] } });
  return true;
}

async function placeLimited(base: Base, row: Item, batch: string): Promise<void> {
  const job = fromItem({ sp: '{}', ...row });
  for (let round = 0; round < MOST_TRIES; round++) {
    const draft = await LimitDraft.read(base, job.tenant, job.limitKey!);
    draft.move(null, job);
    draft.admit();
    const { writes, entered } = await draft.finish(base, base.settings.clock.now());
    const after = entered.has(job.id) ? withSlot(job) : job;
    const { rq, rk, hs } = changingOf(after, base.settings);
    const slot = Object.fromEntries(Object.entries({ rq, rk, hs }).filter(([, value]) => value !== undefined)) as Item;
    const put: Write = { put: { ...row, ...slot }, if: equals('bid', batch) };
    if (await base.db.transact([put, ...writes])) return;
    const now = await base.db.get(jobKey(job.tenant, job.id));
    if (now?.['bid'] !== batch) return;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The limit ${job.limitKey}`);
}

/** Frees ids that others have staged and not committed; from then on they cannot commit them. */
export async function clearStaged(base: Base, keys: readonly Key[]): Promise<void> {
  const items = await base.db.getAll(keys);
  const batches = new Set(items.flatMap((item) => (item && 'bid' in item ? [item['bid'] as string] : [])));
  for (const batch of batches) {
    const x = secondsOf(base.settings.clock.now() + COMMIT_KEPT_MS);
    const aborted = await base.db.write({ put: { ...batchKey(batch), st: 'aborted', x }, if: absent() });
    if (!aborted.ok && aborted.old?.['st'] === 'committed') await finishBatch(base, batch);
    else await inParallel(keys, (key) => base.db.write({ delete: key, if: equals('bid', batch) }));
  }
}
