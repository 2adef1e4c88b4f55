import type { Edge, InsertGroup } from '@waybill/core';
import { workflowCells } from '../workflow-rows.ts';
import { plainArray } from './arrays.ts';
import type { Base } from './base.ts';
import type { Queryable } from './link/link.ts';

type Entry = NonNullable<InsertGroup['workflow']>;

/** Makes the workflow of a group, or counts further nodes of one; false when that one does not run. */
export async function enterWorkflow(
  { sql }: Base,
  tx: Queryable,
  tenant: string,
  workflow: Entry,
  nodes: number,
): Promise<boolean> {
  if ('create' in workflow) {
    await tx.query(sql['workflow-create'], workflowCells(workflow.create));
    return true;
  }
  return (await tx.query(sql['workflow-join'], [tenant, workflow.join, nodes])).length > 0;
}

export async function insertEdges({ sql }: Base, tx: Queryable, tenant: string, edges: readonly Edge[]): Promise<void> {
  if (edges.length === 0) return;
  const parents = plainArray(edges.map(({ parent }) => parent));
  await tx.query(sql['edges-insert'], [tenant, parents, plainArray(edges.map(({ child }) => child))]);
}
