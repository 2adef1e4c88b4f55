import { randomUUID } from 'node:crypto';
import type { InsertAnswer } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, any, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { edgeWrites, nodeWrites, onlyIfNew } from './edges.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { COMMIT_KEPT_MS, clearStaged, finishBatch } from './finish-batch.ts';
import { type GroupView, readGroup, tenantOf } from './group-view.ts';
import { refusal } from './insert-group.ts';
import { idempotencyWrites, replaceWrites, uniqueWrites } from './insert-plan.ts';
import type { Key } from './items.ts';
import { batchKey, jobKey } from './keys.ts';
import type { MarkedGroup } from './marked-group.ts';
import { unlessFenced } from './marks.ts';
import { readJobs } from './read.ts';
import { isFree, rowPut, writeSides } from './row-writes.ts';
import { alarmAt, secondsOf } from './rows.ts';
import { enterWorkflow } from './workflow-items.ts';

/** Staged rows that nobody committed go by themselves. */
const STAGED_KEPT_MS = 86_400_000;
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
      // Whom others' slots went to is not gathered here. Their rows carry reminders, so that costs time only.
      return { status: 'inserted', jobs: jobs.map((job, index) => job ?? group.jobs[index]!.job), admitted: [] };
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
    ...enterWorkflow(group, view, base.settings),
  ]);
}
