import { type InsertAnswer, type Job, type Stored, type TakenKey, takenAnswer } from '@waybill/core';
import { fitsNow } from './apply.ts';
import type { Base } from './base.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { clearStaged } from './finish-batch.ts';
import { type GroupView, readGroup } from './group-view.ts';
import { type GroupPlan, planGroup } from './insert-plan.ts';
import { jobKey } from './keys.ts';
import { admitMore } from './limits.ts';
import type { MarkedGroup } from './marked-group.ts';
import { hasMark } from './marks.ts';
import { toJob, wholeJobs } from './read.ts';
import { writeSides } from './row-writes.ts';

/**
 * Reads everything that a group depends on, decides, and writes it in one transaction that is refused if anything
 * of it has changed meanwhile; then it reads again.
 */
export async function insertTogether(base: Base, group: MarkedGroup): Promise<InsertAnswer | 'too large'> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const view = await readGroup(base, group);
    const own = await ownRows(base, group, view);
    if (own) return own;
    const refused = await refusal(base, group, view);
    if (refused) return refused;
    if (roughSize(group) > base.settings.largestTransaction) return 'too large';
    const plan = await planGroup(base, group, view);
    if (plan.writes.length > base.settings.largestTransaction) return 'too large';
    await writeSides(base, plan.sides);
    group.segments.assertFresh();
    if (await base.db.transact(plan.writes)) return inserted(base, plan);
    await group.segments.assertUnsettled();
    await clearStaged(
      base,
      group.jobs.map(({ job }) => jobKey(job.tenant, job.id)),
    );
    await pause(Math.min(round, 4));
  }
  throw tooContended('What a group of jobs depends on');
}

/** Rows alone, so that a large group is not planned in vain. */
const roughSize = ({ jobs, edges }: MarkedGroup): number => jobs.length + 2 * (edges?.length ?? 0);

export async function inserted(base: Base, plan: GroupPlan): Promise<{ status: 'inserted' } & Stored> {
  const late = (await Promise.all(plan.more.map((limit) => admitMore(base, limit)))).flat();
  const others = await wholeJobs(base, [...plan.admitted, ...late]);
  base.wakes.jobs(others);
  const byId = new Map(others.map((job) => [job.id, job]));
  const jobs = plan.jobs.map((job) => byId.get(job.id) ?? job);
  const own = new Set(jobs.map(({ id }) => id));
  return { status: 'inserted', jobs, admitted: others.filter(({ id }) => !own.has(id)) };
}

/** All rows are there with the marks of this very call: its answer was lost, not its work. */
async function ownRows(base: Base, { marks }: MarkedGroup, { rows }: GroupView): Promise<InsertAnswer | null> {
  if (rows.length === 0 || !rows.every((row, index) => hasMark(row, marks[index]!))) return null;
  return {
    status: 'inserted',
    jobs: await wholeJobs(
      base,
      rows.filter((row) => row !== undefined),
    ),
    // Not known any more. Their rows carry reminders, so a lost hint costs time only.
    admitted: [],
  };
}

export async function refusal(base: Base, group: MarkedGroup, view: GroupView): Promise<InsertAnswer | null> {
  return (
    (await existing(base, group, view)) ??
    (await conflicting(base, group, view)) ??
    named(group, view) ??
    closed(group, view)
  );
}

/** First of all: whoever repeats a call shall learn that it was done, whatever has become of keys meanwhile. */
async function existing(base: Base, { jobs }: MarkedGroup, { rows }: GroupView): Promise<InsertAnswer | null> {
  const seen = new Map<string, Job>();
  for (const [index, { job }] of jobs.entries()) {
    const row = rows[index];
    if (row) return { status: 'exists', index, job: await toJob(base, row) };
    const twin = seen.get(job.id);
    if (twin) return { status: 'exists', index, job: twin };
    seen.set(job.id, job);
  }
  return null;
}

async function conflicting(base: Base, { jobs }: MarkedGroup, view: GroupView): Promise<InsertAnswer | null> {
  const keys = new Map<string, Job>();
  const owners = new Map<string, Job>();
  const taken: TakenKey[] = [];
  for (const [index, { job, unique }] of jobs.entries()) {
    if (job.idempotencyKey !== null && taken.length === 0) {
      const first = view.firstWith.get(job.idempotencyKey);
      const twin = keys.get(job.idempotencyKey);
      if (first?.row) return { status: 'repeated', index, job: await toJob(base, first.row) };
      if (twin) return { status: 'repeated', index, job: twin };
      keys.set(job.idempotencyKey, job);
    }
    if (!unique) continue;
    const twin = owners.get(unique.key);
    if (twin) {
      if (taken.length === 0) taken.push({ index, job: twin });
      continue;
    }
    const row = view.owners.get(unique.key)?.row;
    const owner = row && (await toJob(base, row));
    const isExpected = owner && unique.owner?.id === owner.id && unique.owner.version === owner.version;
    if (owner && !(isExpected && (!unique.replace || fitsNow(row, unique.replace)))) taken.push({ index, job: owner });
    else owners.set(unique.key, job);
  }
  return takenAnswer(taken) ?? null;
}

function named({ jobs, workflow }: MarkedGroup, { takenNames }: GroupView): InsertAnswer | null {
  if (!workflow) return null;
  const seen = new Set<string>();
  const index = jobs.findIndex(({ job: { node } }) => {
    if (node === null) return false;
    const isTwin = seen.has(node) || takenNames.has(node);
    seen.add(node);
    return isTwin;
  });
  return index < 0 ? null : { status: 'named', index };
}

/** Last of all, so that a repetition is told from a newcomer also after the workflow has ended. */
function closed({ workflow }: MarkedGroup, { workflowItem }: GroupView): InsertAnswer | null {
  if (!workflow || 'create' in workflow) return null;
  return workflowItem?.['st'] === 'running' ? null : { status: 'closed' };
}
