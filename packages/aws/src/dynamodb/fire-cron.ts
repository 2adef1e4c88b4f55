import { type FireAnswer, type FireRequest, type InsertGroup, storedBy } from '@waybill/core';
import type { Base } from './base.ts';
import { asRead, cronItem, cronOf } from './crons.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { clearStaged } from './finish-batch.ts';
import { readGroup } from './group-view.ts';
import { inserted, refusal } from './insert-group.ts';
import { planGroup } from './insert-plan.ts';
import { cronKey, jobKey } from './keys.ts';
import type { OpenSegments } from './log-writer.ts';
import { linesOf, type MarkedGroup, openLog } from './marked-group.ts';
import { writeSides } from './row-writes.ts';
import { Facts, lineOf } from './subjects.ts';
import type { Write } from './writes.ts';

/** The cron moves on and its job comes in one transaction, in which the event of the tick is told. */
export function fireCron(base: Base, request: FireRequest): Promise<FireAnswer> {
  const { tenant, name, job, told } = request;
  const groups = job ? [{ jobs: [job] }] : [];
  const lines = [`cron ${tenant} ${name}`, ...groups.flatMap(linesOf), ...(told ? [lineOf(told)] : [])];
  return base.locks.run(lines, () => fireInLine(base, request, groups));
}

/** If something else was told of the cron meanwhile, all is lost with the number of its event, and begins anew. */
async function fireInLine(base: Base, request: FireRequest, groups: readonly InsertGroup[]): Promise<FireAnswer> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const facts = await Facts.read(base, request.told ? [request.told] : []);
    const { marked, segments, loseAll, factMarks, loseFacts } = await openLog(base, groups, facts.events);
    const answer = await fireTogether(base, request, { group: marked[0], segments, facts, factMarks });
    const isMade = answer?.status === 'fired' && answer.jobs.length > 0;
    if (marked[0] && !isMade) loseAll(0);
    if (answer?.status !== 'fired' || (marked[0] && !isMade)) loseFacts();
    await segments.confirm();
    if (answer) return answer;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${request.name}`);
}

interface Opened {
  group: MarkedGroup | undefined;
  segments: OpenSegments;
  facts: Facts;
  factMarks: readonly string[];
}

/** Null: the facts are outdated. */
async function fireTogether(
  base: Base,
  { tenant, name, expected, nextAt, tick }: FireRequest,
  { group, segments, facts, factMarks }: Opened,
): Promise<FireAnswer | null> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const item = await base.db.get(cronKey(tenant, name));
    const cron = item && cronOf(item);
    if (!cron || cron.version !== expected.version || cron.nextAt !== expected.nextAt) return { status: 'lost' };
    const view = group && (await readGroup(base, group));
    const refused = group && view ? await refusal(base, group, view) : null;
    const plan = group && view && !refused ? await planGroup(base, group, view) : null;
    // A job that another one keeps out leaves no row; the tick has been dealt with all the same.
    const isThere = plan !== null || refused?.status === 'exists';
    const made = isThere && group ? { lastJobId: group.jobs[0]!.job.id, runs: cron.runs + 1 } : {};
    const after = { ...cron, nextAt, lastAt: tick, ...made };
    const move: Write = { put: cronItem(after, base.settings), if: asRead(item) };
    const counts = refused ? [] : facts.writes(base, factMarks);
    await writeSides(base, plan?.sides ?? []);
    segments.assertFresh();
    const isIn = await base.db.transact([move, ...(plan?.writes ?? []), ...counts]);
    const standing = isIn || counts.length === 0 ? null : await facts.standing(base, factMarks);
    if (isIn || standing === 'told') {
      if (counts.length > 0) facts.trimLater(base, factMarks);
      const stored = plan ? [await inserted(base, plan)] : [];
      for (const { jobs } of stored) base.wakes.jobs(jobs);
      return { status: 'fired', ...storedBy(stored) };
    }
    await segments.assertUnsettled();
    if (standing === 'outdated') return null;
    if (group)
      await clearStaged(
        base,
        group.jobs.map(({ job }) => jobKey(job.tenant, job.id)),
      );
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${name}`);
}
