import type { Job } from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { edgeWrites, nodeWrites } from './edges.ts';
import { type GroupView, type Named, tenantOf } from './group-view.ts';
import type { Item } from './items.ts';
import { idempotencyKey, jobKey, uniqueKey } from './keys.ts';
import { LimitDraft, withSlot } from './limit-draft.ts';
import type { LimitName } from './limits.ts';
import type { MarkedGroup } from './marked-group.ts';
import { unlessFenced } from './marks.ts';
import { fits, isFree, rowPut, rowUpdate } from './row-writes.ts';
import { fromItem } from './rows.ts';
import { enterWorkflow } from './workflow-items.ts';
import type { Write } from './writes.ts';

export interface GroupPlan {
  writes: Write[];
  /** Large fields, which go ahead of the rows. */
  sides: Item[];
  /** The rows as they will be. */
  jobs: Job[];
  /** Rows of others that get a slot. */
  admitted: Item[];
  more: LimitName[];
}

/** Everything that a group writes, given that nothing speaks against it. */
export async function planGroup(base: Base, group: MarkedGroup, view: GroupView): Promise<GroupPlan> {
  const now = base.settings.clock.now();
  // Ahead of the rows: those of a queue that is not listed would be found by nobody who lists.
  await base.queues.note(group.jobs.map(({ job }) => job));
  const plan: GroupPlan = { writes: [], sides: [], jobs: [], admitted: [], more: [] };
  plan.writes.push(...idempotencyWrites(group, view), ...uniqueWrites(group, view));
  plan.writes.push(...edgeWrites(group, view), ...nodeWrites(group), ...enterWorkflow(group, view, base.settings));
  const slots = await planLimits(base, group, view, plan, now);
  for (const [index, { job }] of group.jobs.entries()) {
    const stored = slots.has(job.id) ? withSlot(job) : job;
    const { sides, row } = rowPut(base, stored, group.marks[index]!);
    plan.sides.push(...sides);
    plan.writes.push({ put: row, if: unlessFenced(group.marks[index]!, isFree(now)) });
    plan.jobs.push(stored);
  }
  const replaced = replaceRows(base, group, view, slots);
  plan.sides.push(...replaced.sides);
  plan.writes.push(...replaced.writes);
  return plan;
}

const asSeen = (named: Named | undefined) => equals('j', named?.id ?? null);

export function idempotencyWrites({ jobs }: MarkedGroup, { firstWith }: GroupView): Write[] {
  return jobs.flatMap(({ job: { tenant, id, idempotencyKey: key } }): Write[] =>
    key === null ? [] : [{ put: { ...idempotencyKey(tenant, key), j: id }, if: asSeen(firstWith.get(key)) }],
  );
}

/** A key changes hands only while its owner is as it was seen. */
export function uniqueWrites({ jobs }: MarkedGroup, { owners }: GroupView): Write[] {
  return jobs.flatMap(({ job: { tenant, id }, unique }): Write[] => {
    if (!unique) return [];
    const owner = owners.get(unique.key);
    const take: Write = { put: { ...uniqueKey(tenant, unique.key), j: id }, if: asSeen(owner) };
    if (!owner?.row || unique.replace) return [take];
    return [take, { check: jobKey(tenant, owner.id!), if: equals('vr', owner.row['vr']!) }];
  });
}

/** Owners that are replaced. One whose row is gone is nobody, and nobody can be replaced. */
function replaceRows(base: Base, group: MarkedGroup, view: GroupView, slots: ReadonlySet<string>) {
  const [sides, writes]: [Item[], Write[]] = [[], []];
  for (const [index, { unique }] of group.jobs.entries()) {
    if (!unique?.replace || !view.owners.get(unique.key)?.row) continue;
    const { job, expect } = unique.replace;
    const after = slots.has(job.id) ? withSlot(job) : job;
    const replaced = rowUpdate(base, after, group.replaceMarks[index]!, fits(expect));
    sides.push(...replaced.sides);
    writes.push(replaced.update);
  }
  return { sides, writes };
}

/** The same for a staged group, with the limits of the owners: those of its own jobs are seen to afterwards. */
export async function replaceWrites(base: Base, group: MarkedGroup, view: GroupView) {
  const plan: GroupPlan = { writes: [], sides: [], jobs: [], admitted: [], more: [] };
  const unlimited = group.jobs.map((made) => ({ ...made, job: { ...made.job, limitKey: null } }));
  const slots = await planLimits(base, { ...group, jobs: unlimited }, view, plan, base.settings.clock.now());
  const { sides, writes } = replaceRows(base, group, view, slots);
  return { sides, writes: [...plan.writes, ...writes] };
}

/** Draws up every limit that the group has to do with; answers whose rows get a slot. */
async function planLimits(base: Base, group: MarkedGroup, view: GroupView, plan: GroupPlan, now: number) {
  const tenant = tenantOf(group);
  const drafts = new Map<string, LimitDraft>();
  const draftOf = async (key: string) => {
    const draft = drafts.get(key) ?? (await LimitDraft.read(base, tenant, key));
    drafts.set(key, draft);
    return draft;
  };
  for (const { job, limit, unique } of group.jobs) {
    const owner = unique?.replace && view.owners.get(unique.key)?.row;
    if (owner && unique.replace!.job.limitKey !== null) {
      const draft = await draftOf(unique.replace!.job.limitKey);
      draft.move(fromItem({ sp: '{}', ...owner }), unique.replace!.job);
      if (unique.replace!.slot) draft.admit();
    }
    if (job.limitKey === null) continue;
    const draft = await draftOf(job.limitKey);
    if (limit) draft.setRule(limit);
    draft.move(null, job);
    draft.admit();
  }
  const slots = new Set<string>();
  for (const [key, draft] of drafts) {
    const drafted = await draft.finish(base, now);
    plan.writes.push(...drafted.writes);
    plan.admitted.push(...drafted.admitted);
    if (drafted.isMore) plan.more.push({ tenant, key });
    for (const id of drafted.entered) slots.add(id);
  }
  return slots;
}
