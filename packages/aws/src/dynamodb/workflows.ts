import {
  type Family,
  idRange,
  isFinished,
  type Job,
  type Page,
  type ParentResult,
  type WorkflowRecord,
  type WorkflowState,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, between, type Condition, equals, exists } from './conditions.ts';
import { inParallel } from './database.ts';
import type { Item, Key } from './items.ts';
import { inKey, inPrefix, jobKey, jobPk, nodesPk, outPrefix, tenantPk, workflowKey } from './keys.ts';
import { readCursor, writeCursor } from './list.ts';
import { readableJobs, readRows, toJobs } from './read.ts';
import { headOf, isGone, stateOf } from './rows.ts';
import { workflowOf } from './workflow-items.ts';

export async function getWorkflow({ db, settings }: Base, tenant: string, id: string): Promise<WorkflowRecord | null> {
  const item = await db.get(workflowKey(tenant, id));
  return item && !isGone(item, settings.clock.now()) ? workflowOf(item) : null;
}

export interface WorkflowQuery {
  tenant: string;
  idPrefix?: string;
  states?: readonly WorkflowState[];
  limit: number;
  cursor?: string;
}

/** Newest first by id. States are filtered after reading, so a page may be short and go on. */
export async function listWorkflows({ db, settings }: Base, query: WorkflowQuery): Promise<Page<WorkflowRecord>> {
  const { tenant, idPrefix, states, limit, cursor } = query;
  const last = cursor === undefined ? undefined : workflowKey(tenant, readCursor(cursor)).sk;
  const range = rangeOf(tenant, idPrefix, last);
  const where = all(equals('pk', tenantPk(tenant)), range);
  const found = await db.query({ where, backwards: true, limit: limit + 2 });
  const rest = found.items.filter((item) => item['sk'] !== last);
  const page = rest.slice(0, limit);
  const items = page
    .filter((item) => !isGone(item, settings.clock.now()))
    .map(workflowOf)
    .filter(({ state }) => states?.includes(state) ?? true);
  const isMore = rest.length > page.length || found.last !== undefined;
  return isMore && page.length > 0 ? { items, cursor: writeCursor(workflowOf(page.at(-1)!).id) } : { items };
}

/** A key has at most one condition, so the cursor ends the range of a prefix; the page leaves out its id. */
function rangeOf(tenant: string, idPrefix: string | undefined, last: string | undefined): Condition {
  if (idPrefix === undefined) return last === undefined ? begins('sk', 'W#') : between('sk', 'W#', last);
  const ids = idRange(idPrefix);
  const [from, to] = [workflowKey(tenant, ids.first).sk, workflowKey(tenant, ids.last).sk];
  const end = last === undefined || last > to ? to : last;
  return between('sk', from, end < from ? from : end);
}

const childrenOf = ({ db }: Base, tenant: string, parent: string): Promise<Item[]> =>
  db.queryAll({ where: all(equals('pk', jobPk(tenant, parent)), begins('sk', outPrefix)) });

const edgesInto = ({ db }: Base, tenant: string, child: string): Promise<Item[]> =>
  db.queryAll({ where: all(equals('pk', jobPk(tenant, child)), begins('sk', inPrefix)) });

/** Marks first and looks second: of two who meet the last parents at once, at least one sees all marks. */
export async function meet(base: Base, { tenant, ids }: Family): Promise<Job[]> {
  const rows = await readRows(
    base,
    ids.map((id) => jobKey(tenant, id)),
  );
  const completed = ids.filter((_, index) => rows[index] && stateOf(rows[index]) === 'completed');
  const edges = await inParallel(completed, async (parent) =>
    (await childrenOf(base, tenant, parent)).map((item) => ({
      parent,
      child: item['c'] as string,
      place: item['o'] as number,
      isJoin: 'jn' in item,
    })),
  );
  await inParallel(edges.flat(), ({ parent, child, place }) =>
    base.db.write({ update: inKey(tenant, child, place, parent), change: { set: { m: 1 } }, if: exists() }),
  );
  const namesOf = (isJoin: boolean) => edges.flat().flatMap((edge) => (edge.isJoin === isJoin ? [edge.child] : []));
  const joins = await freeOf(base, tenant, [...new Set(namesOf(true))]);
  const behind = await inParallel(joins, (join) => childrenOf(base, tenant, join));
  const children = new Set([...namesOf(false), ...behind.flat().map((item) => item['c'] as string)]);
  const pending = await pendingOf(base, tenant, [...children]);
  const free = new Set(
    await freeOf(
      base,
      tenant,
      pending.map(({ id }) => id),
    ),
  );
  return pending.filter(({ id }) => free.has(id));
}

/** Those of these jobs and joins that wait for nothing more. */
async function freeOf(base: Base, tenant: string, ids: readonly string[]): Promise<string[]> {
  const isFree = await inParallel(ids, async (id) => (await edgesInto(base, tenant, id)).every((item) => 'm' in item));
  return ids.filter((_, index) => isFree[index]);
}

export async function waiting(base: Base, { tenant, ids }: Family): Promise<Job[]> {
  const read = (parent: string) => childrenOf(base, tenant, parent);
  const edges = (await inParallel(ids, read)).flat();
  const joins = new Set(edges.flatMap((item) => ('jn' in item ? [item['c'] as string] : [])));
  const behind = (await inParallel([...joins], read)).flat();
  const children = [...edges, ...behind].map((item) => item['c'] as string).filter((id) => !joins.has(id));
  return pendingOf(base, tenant, [...new Set(children)]);
}

async function pendingOf(base: Base, tenant: string, ids: readonly string[]): Promise<Job[]> {
  const rows = await readRows(
    base,
    ids.map((id) => jobKey(tenant, id)),
  );
  const pending = rows.filter((row) => row !== undefined && stateOf(row) === 'pending') as Item[];
  const jobs = await readableJobs(base, pending);
  // One that cannot be read goes by its head, so that it keeps its siblings from nothing.
  return jobs.map((job, index) => job ?? headOf(pending[index]!));
}

/** A parent that is gone has nothing left to tell. */
export async function parentsOf(base: Base, { tenant, ids }: Family): Promise<ParentResult[][]> {
  const joins = new Map<string, Promise<Item[]>>();
  const edges = await inParallel(ids, async (child) => {
    const own = await edgesInto(base, tenant, child);
    const join = own.find((item) => 'jn' in item)?.['p'] as string | undefined;
    if (join === undefined) return own;
    const before = joins.get(join) ?? edgesInto(base, tenant, join);
    joins.set(join, before);
    return before;
  });
  const children = await readRows(
    base,
    ids.map((id) => jobKey(tenant, id)),
  );
  // Children of one join share the edges into it.
  const distinct = [...new Set(edges.flat())];
  const keys: Key[] = distinct.map((item) => jobKey(tenant, item['p'] as string));
  const jobs = await toJobs(base, await readRows(base, keys));
  const byEdge = new Map(distinct.map((edge, index) => [edge, jobs[index]]));
  const families = new Map(
    [...new Set(edges)].map((own) => {
      const parents = own.map((edge) => byEdge.get(edge)).filter((job) => job != null);
      return [own, parents.map(parentOf)];
    }),
  );
  return edges.map((own, index) => (children[index] ? families.get(own)! : []));
}

const parentOf = ({ id, node, state, outcome, finishedAt, result }: Job): ParentResult => ({
  ...{ id, node, state, outcome, finishedAt, result },
});

const NODES_AT_ONCE = 100;

/** Looks at nodes from the last one that was seen unfinished on: most often one read answers. */
export class UnfinishedNodes {
  readonly #seen = new Map<string, string>();

  async has(base: Base, tenant: string, id: string): Promise<boolean> {
    const name = JSON.stringify([tenant, id]);
    const known = this.#seen.get(name);
    if (known !== undefined && (await this.#find(base, tenant, [known])) !== undefined) return true;
    this.#seen.delete(name);
    const nodes = await base.db.queryAll({ where: all(equals('pk', nodesPk(tenant, id)), begins('sk', 'N#')) });
    const ids = nodes.map((item) => item['j'] as string);
    const start = Math.max(0, ids.indexOf(known ?? ''));
    const turned = [...ids.slice(start), ...ids.slice(0, start)];
    for (let from = 0; from < turned.length; from += NODES_AT_ONCE) {
      const found = await this.#find(base, tenant, turned.slice(from, from + NODES_AT_ONCE));
      if (found === undefined) continue;
      this.#seen.set(name, found);
      return true;
    }
    return false;
  }

  async #find(base: Base, tenant: string, ids: readonly string[]): Promise<string | undefined> {
    const rows = await readRows(
      base,
      ids.map((id) => jobKey(tenant, id)),
    );
    return ids.find((_, index) => rows[index] && !isFinished(stateOf(rows[index])));
  }
}
