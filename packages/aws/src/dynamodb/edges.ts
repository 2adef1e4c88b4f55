import type { InsertGroup } from '@waybill/core';
import { absent } from './conditions.ts';
import { type GroupView, tenantOf } from './group-view.ts';
import { present } from './items.ts';
import { inKey, joinKey, nodeKey, outKey } from './keys.ts';
import type { Write } from './writes.ts';

/** An edge is two items: one to find a parent's children by, one to find what a child waits for. */
export function edgeWrites(group: InsertGroup, { completed }: GroupView): Write[] {
  const tenant = tenantOf(group);
  const seen = new Set<string>();
  return (group.edges ?? []).flatMap(({ parent, child, join }, position): Write[] => {
    const name = JSON.stringify([parent, child]);
    if (seen.has(name)) return [];
    seen.add(name);
    // A parent that has been advanced already will not be looked at again.
    const isMet = join === 'out_of_join' || completed.has(parent);
    const [into, outOf] = [join === 'into_join', join === 'out_of_join'];
    const own = present({ ...inKey(tenant, child, position, parent), p: parent, m: isMet, jn: outOf });
    return [{ put: own }, { put: present({ ...outKey(tenant, parent, child), c: child, o: position, jn: into }) }];
  });
}

/** A staged group writes its edges ahead; one that was met meanwhile must not come back as unmet. */
export const onlyIfNew = (writes: readonly Write[]): Write[] =>
  writes.map((write) => ({ ...write, if: absent() }) as Write);

/** What belongs to a workflow: its nodes, whose rows say whether they have finished, and its joins. */
export function nodeWrites({ jobs, edges = [] }: InsertGroup): Write[] {
  const nodes = jobs.flatMap(({ job }) =>
    job.workflowId === null
      ? []
      : [{ put: present({ ...nodeKey(job.tenant, job.workflowId, job.id), j: job.id, nd: job.node }) }],
  );
  const { tenant = '', workflowId = null } = jobs[0]?.job ?? {};
  const joins = new Set(edges.flatMap(({ child, join }) => (join === 'into_join' ? [child] : [])));
  if (workflowId === null || joins.size === 0) return nodes;
  return [...nodes, ...[...joins].map((id) => ({ put: { ...joinKey(tenant, workflowId, id), j: id } }))];
}
