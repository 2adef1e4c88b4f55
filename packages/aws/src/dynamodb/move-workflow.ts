import { type InsertAnswer, type MoveAnswer, type MoveRequest, storedBy } from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { readGroup } from './group-view.ts';
import { inserted, refusal } from './insert-group.ts';
import { type GroupPlan, planGroup } from './insert-plan.ts';
import { workflowKey } from './keys.ts';
import { linesOf, type MarkedGroup, openLog } from './marked-group.ts';
import { writeSides } from './row-writes.ts';
import { secondsOf } from './rows.ts';

/** The workflow moves and its jobs come in one transaction. */
export async function moveWorkflow(base: Base, request: MoveRequest): Promise<MoveAnswer> {
  const groups = request.jobs.map((job) => ({ jobs: [job] }));
  const { marked, segments, loseAll } = await openLog(base, groups);
  const lines = [`workflow ${request.tenant} ${request.id}`, ...groups.flatMap(linesOf)];
  const made = await base.locks.run(lines, () => moveTogether(base, request, marked));
  for (const index of groups.keys()) if (!made?.has(index)) loseAll(index);
  await segments.confirm();
  return made === null ? { status: 'lost' } : { status: 'moved', ...storedBy([...made.values()]) };
}

/** Answers those of the jobs that went in, by their place; null when the workflow was not in the expected state. */
async function moveTogether(
  base: Base,
  request: MoveRequest,
  groups: readonly MarkedGroup[],
): Promise<Map<number, InsertAnswer> | null> {
  const { tenant, id, from, to, now } = request;
  const key = workflowKey(tenant, id);
  const { retention } = base.settings;
  for (let round = 0; round < MOST_TRIES; round++) {
    const item = await base.db.get(key);
    if (item?.['st'] !== from) return null;
    // Each on its own: one that is there already must not keep the others out.
    const plans = new Map<number, GroupPlan>();
    for (const [index, group] of groups.entries()) {
      const view = await readGroup(base, group);
      if (!(await refusal(base, group, view))) plans.set(index, await planGroup(base, group, view));
    }
    const keptUntil = secondsOf(now + Math.max(retention.finishedMs, retention.deadMs));
    const change =
      to === 'running' ? { set: { st: to }, remove: ['fi', 'x'] } : { set: { st: to, fi: now, x: keptUntil } };
    await writeSides(
      base,
      [...plans.values()].flatMap(({ sides }) => sides),
    );
    const writes = [...plans.values()].flatMap((plan) => plan.writes);
    groups[0]?.segments.assertFresh();
    if (await base.db.transact([{ update: key, change, if: equals('st', from) }, ...writes])) {
      const made = new Map<number, InsertAnswer>();
      for (const [index, plan] of plans) {
        const answer = await inserted(base, plan);
        base.wakes.jobs(answer.jobs);
        made.set(index, answer);
      }
      return made;
    }
    await groups[0]?.segments.assertUnsettled();
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The workflow ${id}`);
}
