import type { Job, Waybill } from '@waybill/core';
import type { Context } from './context.ts';
import { refusalOf } from './report.ts';

/** Tells of nodes that run again although their workflow has failed: that stays failed, and what waited stays cancelled. */
export async function tellFailedWorkflows(waybill: Waybill, jobs: readonly Job[], context: Context): Promise<void> {
  const nodes = jobs.filter(({ node }) => node !== null);
  const ids = new Set(nodes.flatMap(({ workflowId }) => workflowId ?? []));
  const whose = context.tenant === undefined ? '' : ` --tenant ${context.tenant}`;
  for (const id of ids) {
    if (!(await hasFailed(waybill, id))) continue;
    const { stderr } = context.io;
    stderr.write(
      `waybill: workflow ${id} stays failed. Run all of it that is left: waybill workflows resume ${id}${whose}\n`,
    );
  }
}

/** The job runs again either way, so a workflow that cannot be read is none to tell of. */
async function hasFailed({ workflows }: Waybill, id: string): Promise<boolean> {
  try {
    return (await workflows.get(id)).state === 'failed';
  } catch (error) {
    if (refusalOf(error).code === 'not_found') return false;
    throw error;
  }
}
