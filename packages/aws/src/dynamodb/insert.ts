import type { InsertAnswer, InsertGroup } from '@waybill/core';
import { countEnds } from './apply.ts';
import type { Base } from './base.ts';
import { inParallel } from './database.ts';
import { insertTogether } from './insert-group.ts';
import { tooLate } from './log-writer.ts';
import { linesOf, type MarkedGroup, openLog } from './marked-group.ts';
import { hasMark, isFenced, unlessFenced } from './marks.ts';
import { toJob } from './read.ts';
import { isFree, rowPut, writeSides } from './row-writes.ts';
import { isGone } from './rows.ts';
import { stageGroup } from './staging.ts';

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
  if (written.ok || hasMark(written.old, mark)) return { status: 'inserted', jobs: [job], admitted: [] };
  if (isFenced(written.old, mark)) throw tooLate();
  const { old } = written;
  // Part of a group that somebody is about to commit, or gone between two looks: that needs a closer one.
  if (!old || 'bid' in old || isGone(old, base.settings.clock.now())) return null;
  return { status: 'exists', index: 0, job: await toJob(base, old) };
}
