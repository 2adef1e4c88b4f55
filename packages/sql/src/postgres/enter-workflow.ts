import type { Edge, InsertAnswer, InsertGroup, NewJob } from '@waybill/core';
import { edgeKind } from '../edge-kinds.ts';
import { workflowCells } from '../workflow-rows.ts';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import type { Queryable } from './link/link.ts';

type Entry = NonNullable<InsertGroup['workflow']>;

/**
 * Makes the workflow of a group, or counts further nodes of one that runs; answers what keeps the group out. Nothing is
 * written before that is known, since other groups share the transaction.
 */
export async function enterWorkflow(
  { sql }: Base,
  tx: Queryable,
  tenant: string,
  workflow: Entry,
  jobs: readonly NewJob[],
): Promise<InsertAnswer | null> {
  const names = jobs.map(({ job }) => job.node);
  const seen = new Set<string>();
  const twin = names.findIndex((name) => name !== null && seen.size === seen.add(name).size);
  const id = 'create' in workflow ? workflow.create.id : workflow.join;
  const ofThis = [tenant, id, textArray(names.filter((name) => name !== null)) ?? '{}'] as const;
  if ('create' in workflow) {
    if (twin >= 0) return { status: 'named', index: twin };
    await tx.query(sql['workflow-create'], workflowCells(workflow.create));
  } else {
    // From here on nobody else adds nodes, so a name that is free stays free.
    const [found] = await tx.query<[string]>(sql['workflow-lock'], [tenant, id]);
    const [taken] = await tx.query<[number]>(sql['workflow-name-taken'], ofThis);
    const clashes = [twin, taken ? placeOf(names, taken[0]) : -1].filter((index) => index >= 0);
    if (clashes.length > 0) return { status: 'named', index: Math.min(...clashes) };
    if (found?.[0] !== 'running') return { status: 'closed' };
    await tx.query(sql['workflow-join'], [tenant, id, jobs.length]);
  }
  await tx.query(sql['workflow-names'], ofThis);
  return null;
}

/** Where the nth of the names stands, counted from 1, among nodes of which some have none. */
const placeOf = (names: readonly (string | null)[], nth: number): number =>
  names.flatMap((name, index) => (name === null ? [] : [index]))[nth - 1]!;

export async function insertEdges({ sql }: Base, tx: Queryable, tenant: string, edges: readonly Edge[]): Promise<void> {
  if (edges.length === 0) return;
  const parents = plainArray(edges.map(({ parent }) => parent));
  const children = plainArray(edges.map(({ child }) => child));
  await tx.query(sql['edges-insert'], [tenant, parents, children, plainArray(edges.map(edgeKind))]);
}
