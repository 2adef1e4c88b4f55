import { type InsertAnswer, type InsertGroup, type MoveAnswer, type MoveRequest, storedBy } from '@waybill/core';
import type { Base } from './base.ts';
import { all, equals } from './conditions.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { readGroup } from './group-view.ts';
import { inserted, refusal } from './insert-group.ts';
import { type GroupPlan, planGroup } from './insert-plan.ts';
import { present } from './items.ts';
import { prunePartition, shardOf, workflowKey } from './keys.ts';
import type { OpenSegments } from './log-writer.ts';
import { linesOf, type MarkedGroup, openLog, workflowLine } from './marked-group.ts';
import { writeSides } from './row-writes.ts';
import { Facts, lineOf } from './subjects.ts';
import { flowAlarm } from './workflow-items.ts';

/** The workflow moves and its jobs come in one transaction, in which the event of the move is told. */
export function moveWorkflow(base: Base, request: MoveRequest): Promise<MoveAnswer> {
  const { tenant, id, jobs, told } = request;
  const groups = jobs.map((job) => ({ jobs: [job] }));
  const lines = [workflowLine(tenant, id), ...groups.flatMap(linesOf), ...(told ? [lineOf(told)] : [])];
  return base.locks.run(lines, () => moveInLine(base, request, groups));
}

/** If something else was told of the workflow meanwhile, all is lost with the number of its event, and begins anew. */
async function moveInLine(base: Base, request: MoveRequest, groups: readonly InsertGroup[]): Promise<MoveAnswer> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const facts = await Facts.read(base, request.told ? [request.told] : []);
    const { marked, segments, loseAll, factMarks, loseFacts } = await openLog(base, groups, facts.events);
    const made = await moveTogether(base, request, { groups: marked, segments, facts, factMarks });
    const isMoved = made instanceof Map;
    for (const index of groups.keys()) if (!isMoved || !made.has(index)) loseAll(index);
    if (!isMoved) loseFacts();
    await segments.confirm();
    if (isMoved) return { status: 'moved', ...storedBy([...made.values()]) };
    if (made === 'lost') return { status: 'lost' };
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The workflow ${request.id}`);
}

interface Opened {
  groups: readonly MarkedGroup[];
  segments: OpenSegments;
  facts: Facts;
  factMarks: readonly string[];
}

/** One that runs rings for the engine, where it has something to wait for, and one that has ended for the pruner. */
function changeOf({ settings }: Base, request: MoveRequest) {
  const { tenant, id, to, now, nextAt = null, reason = null, skips } = request;
  const { dueShards, retention } = settings;
  const beside = present({ nx: nextAt, rs: reason, ...(skips && { sp: true }) });
  const gone = [...(nextAt === null ? ['nx'] : []), ...(reason === null ? ['rs'] : [])];
  if (to === 'running') {
    const alarm = flowAlarm({ tenant, id, nextAt }, settings);
    const silent = nextAt === null ? ['dp', 'dn'] : [];
    return { set: { st: to, ...beside, ...alarm }, remove: ['fi', 'x', ...gone, ...silent] };
  }
  const pruned = {
    dp: prunePartition(shardOf(`${tenant} ${id}`, dueShards)),
    dn: now + Math.min(retention.finishedMs, retention.deadMs),
  };
  return { set: { st: to, fi: now, ...beside, ...pruned }, remove: gone };
}

/** Answers those of the jobs that went in, by their place; `lost` when the workflow was not in the expected state. */
async function moveTogether(
  base: Base,
  request: MoveRequest,
  { groups, segments, facts, factMarks }: Opened,
): Promise<Map<number, InsertAnswer> | 'lost' | 'outdated'> {
  const { tenant, id, from, total } = request;
  const key = workflowKey(tenant, id);
  const change = changeOf(base, request);
  const counts = facts.writes(base, factMarks);
  const isAsRead = total === undefined ? equals('st', from) : all(equals('st', from), equals('to', total));
  for (let round = 0; round < MOST_TRIES; round++) {
    const item = await base.db.get(key);
    if (item?.['st'] !== from || (total !== undefined && item['to'] !== total)) return 'lost';
    // Each on its own: one that is there already must not keep the others out.
    const plans = new Map<number, GroupPlan>();
    for (const [index, group] of groups.entries()) {
      const view = await readGroup(base, group);
      if (!(await refusal(base, group, view))) plans.set(index, await planGroup(base, group, view));
    }
    await writeSides(
      base,
      [...plans.values()].flatMap(({ sides }) => sides),
    );
    const writes = [...plans.values()].flatMap((plan) => plan.writes);
    segments.assertFresh();
    const isIn = await base.db.transact([{ update: key, change, if: isAsRead }, ...writes, ...counts]);
    const standing = isIn || counts.length === 0 ? null : await facts.standing(base, factMarks);
    if (isIn || standing === 'told') {
      facts.trimLater(base, factMarks);
      const made = new Map<number, InsertAnswer>();
      for (const [index, plan] of plans) {
        const answer = await inserted(base, plan);
        base.wakes.jobs(answer.jobs);
        made.set(index, answer);
      }
      return made;
    }
    await segments.assertUnsettled();
    if (standing === 'outdated') return 'outdated';
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The workflow ${id}`);
}
