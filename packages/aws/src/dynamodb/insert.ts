import type { InsertAnswer, InsertGroup, Job } from '@waybill/core';
import { countEnds } from './apply.ts';
import type { Base } from './base.ts';
import { inParallel } from './database.ts';
import { insertTogether } from './insert-group.ts';
import { limitLine } from './locks.ts';
import { type OpenSegments, tooLate } from './log-writer.ts';
import { hasMark, isFenced, unlessFenced } from './marks.ts';
import { toldOf } from './queue-book.ts';
import { toJob } from './read.ts';
import { isFree, rowPut, writeSides } from './row-writes.ts';
import { isGone } from './rows.ts';
import { stageGroup } from './staging.ts';

/** A group with the marks of its jobs and of the owners that they replace. */
export interface MarkedGroup extends InsertGroup {
  marks: readonly string[];
  replaceMarks: readonly string[];
  segments: OpenSegments;
}

export async function insert(base: Base, groups: readonly InsertGroup[]): Promise<InsertAnswer[]> {
  if (groups.length === 0) return [];
  const { marked, segments, loseAll } = await openLog(base, groups);
  // Groups of one call that name the same thing stand in line in the order given.
  const answers = await inParallel(marked, (group) => base.locks.run(linesOf(group), () => insertGroup(base, group)));
  for (const [index, answer] of answers.entries()) if (answer.status !== 'inserted') loseAll(index);
  const replaced = marked.flatMap(({ jobs }, index) =>
    answers[index]!.status === 'inserted' ? jobs.flatMap(({ unique }) => unique?.replace ?? []) : [],
  );
  await Promise.all([segments.confirm(), countEnds(base, replaced)]);
  base.wakes.jobs(answers.flatMap((answer) => (answer.status === 'inserted' ? answer.jobs : [])));
  return answers;
}

/** One segment for the whole call: each job is a change, and so is each owner that is replaced. */
export async function openLog(base: Base, groups: readonly InsertGroup[]) {
  const forgetful = await base.queues.forgetful(groups.flatMap(({ jobs }) => jobs.map(({ job }) => job)));
  const changes = groups.map(({ jobs }) => [
    ...jobs.map(({ job, events }) => toldOf(events, forgetful(job))),
    ...jobs.map(({ unique }) => unique?.replace?.events ?? []),
  ]);
  const segments = await base.log.open(changes.flat());
  let next = 0;
  const places = changes.map((list) => list.map(() => next++));
  const marked: MarkedGroup[] = groups.map((group, index) => {
    const marks = places[index]!.map((place) => segments.mark(place));
    const half = group.jobs.length;
    return { ...group, segments, marks: marks.slice(0, half), replaceMarks: marks.slice(half) };
  });
  const loseAll = (index: number) => {
    for (const place of places[index]!) segments.lose(place);
  };
  return { marked, segments, loseAll };
}

export function linesOf({ jobs }: InsertGroup): string[] {
  return jobs.flatMap(({ job, unique }) => [
    `job ${job.tenant} ${job.id}`,
    ...(job.idempotencyKey === null ? [] : [`key ${job.tenant} ${job.idempotencyKey}`]),
    ...(job.limitKey === null ? [] : [limitLine(job.tenant, job.limitKey)]),
    ...(unique ? [`unique ${job.tenant} ${unique.key}`] : []),
    ...limitOfOwner(unique?.replace?.job),
  ]);
}

const limitOfOwner = (owner: Job | undefined): string[] =>
  owner === undefined || owner.limitKey === null ? [] : [limitLine(owner.tenant, owner.limitKey)];

async function insertGroup(base: Base, group: MarkedGroup): Promise<InsertAnswer> {
  const plain = isPlain(group) ? await insertPlain(base, group) : null;
  if (plain) return plain;
  const answer = await insertTogether(base, group);
  return answer === 'too large' ? stageGroup(base, group) : answer;
}

/** One job that has to do with nothing else: one write. */
function isPlain({ jobs, edges, workflow }: InsertGroup): boolean {
  if (jobs.length !== 1 || workflow || (edges?.length ?? 0) > 0) return false;
  const { job, unique, limit } = jobs[0]!;
  return !unique && !limit && job.idempotencyKey === null && job.limitKey === null && job.workflowId === null;
}

async function insertPlain(base: Base, { jobs, marks, segments }: MarkedGroup): Promise<InsertAnswer | null> {
  const { job } = jobs[0]!;
  const mark = marks[0]!;
  await base.queues.note([job]);
  const { sides, row } = rowPut(base, job, mark);
  await writeSides(base, sides);
  segments.assertFresh();
  const written = await base.db.write({ put: row, if: unlessFenced(mark, isFree(base.settings.clock.now())) });
  if (written.ok || hasMark(written.old, mark)) return { status: 'inserted', jobs: [job] };
  if (isFenced(written.old, mark)) throw tooLate();
  const { old } = written;
  // Part of a group that somebody is about to commit, or gone between two looks: that needs a closer one.
  if (!old || 'bid' in old || isGone(old, base.settings.clock.now())) return null;
  return { status: 'exists', index: 0, job: await toJob(base, old) };
}
