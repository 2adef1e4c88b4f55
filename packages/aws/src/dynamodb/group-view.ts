import type { InsertGroup, NewJob } from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, equals } from './conditions.ts';
import { type Item, type Key, text } from './items.ts';
import { idempotencyKey, jobKey, nodesPk, uniqueKey, workflowKey } from './keys.ts';
import { readRows } from './read.ts';

/** A key that names a job. It counts only while that job's row is there. */
export interface Named {
  /** The id that the key names; null: the key is free. */
  id: string | null;
  row: Item | undefined;
}

/** Everything that decides about a group, as it is now. */
export interface GroupView {
  /** Rows of the ids that the group brings. */
  rows: (Item | undefined)[];
  firstWith: Map<string, Named>;
  owners: Map<string, Named>;
  workflowItem: Item | undefined;
  /** Which of the names that the group brings are taken by nodes of the workflow to join. */
  takenNames: ReadonlySet<string>;
  /** Parents outside of the group that have completed. */
  completed: Set<string>;
}

export const tenantOf = ({ jobs }: InsertGroup): string => jobs[0]?.job.tenant ?? '';

export async function readGroup(base: Base, group: InsertGroup): Promise<GroupView> {
  const tenant = tenantOf(group);
  const { jobs, edges = [], workflow } = group;
  const keys = jobs.flatMap(({ job }) => job.idempotencyKey ?? []);
  const uniques = jobs.flatMap(({ unique }) => unique?.key ?? []);
  const own = new Set(jobs.map(({ job }) => job.id));
  const parents = [...new Set(edges.map(({ parent }) => parent))].filter((parent) => !own.has(parent));
  const join = workflow && 'join' in workflow ? workflow.join : null;
  // Before the names: whoever adds a node changes this item, so names that were free as of this item can be relied on.
  const workflowItem = join === null ? undefined : await base.db.get(workflowKey(tenant, join));
  const [rows, firstWith, owners, takenNames, parentRows] = await Promise.all([
    readRows(
      base,
      jobs.map(({ job }) => jobKey(job.tenant, job.id)),
    ),
    readNamed(base, tenant, keys, (key) => idempotencyKey(tenant, key)),
    readNamed(base, tenant, uniques, (key) => uniqueKey(tenant, key)),
    join === null ? new Set<string>() : readNames(base, tenant, join, jobs),
    readRows(
      base,
      parents.map((id) => jobKey(tenant, id)),
    ),
  ]);
  const completed = new Set(parents.filter((_, index) => parentRows[index]?.['st'] === 'c'));
  return { rows, firstWith, owners, workflowItem, takenNames, completed };
}

async function readNamed(base: Base, tenant: string, keys: readonly string[], toKey: (key: string) => Key) {
  if (keys.length === 0) return new Map<string, Named>();
  const items = await base.db.getAll(keys.map(toKey));
  const ids = items.map((item) => (item?.['j'] as string | undefined) ?? null);
  const rows = await readRows(
    base,
    ids.map((id) => jobKey(tenant, id ?? '')),
  );
  return new Map(keys.map((key, index) => [key, { id: ids[index]!, row: rows[index] }]));
}

/** A name counts only while its row is there: a group that was staged and never committed leaves names behind. */
async function readNames(base: Base, tenant: string, workflow: string, jobs: readonly NewJob[]): Promise<Set<string>> {
  const asked = new Set(jobs.map(({ job }) => job.node));
  const nodes = await base.db.queryAll({ where: all(equals('pk', nodesPk(tenant, workflow)), begins('sk', 'N#')) });
  const found = nodes.filter((item) => asked.has(text(item, 'nd')) && 'nd' in item);
  const rows = await readRows(
    base,
    found.map((item) => jobKey(tenant, item['j'] as string)),
  );
  return new Set(found.filter((_, index) => rows[index]).map((item) => item['nd'] as string));
}
