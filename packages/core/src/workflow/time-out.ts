import { changesOf } from '../commit/row-change.ts';
import { isFinished, JOB_STATES } from '../job/job.ts';
import type { WorkflowRecord } from '../store/workflow-record.ts';
import { type AdvanceParts, endOf } from './end.ts';

const SLICE = 500;
const UNFINISHED = JOB_STATES.filter((state) => !isFinished(state));

/**
 * A workflow has taken longer than it may: what has not ended is cancelled, and it fails. The reason is noted first, so that
 * nothing starts from then on; the alarm stays until it has ended, so that a crash on the way only pauses this. False: not
 * yet, since others change its rows.
 */
export async function timeOut(parts: AdvanceParts, { tenant, id, nextAt }: WorkflowRecord): Promise<boolean> {
  const { store, writer } = parts;
  const now = store.clock.now();
  const noted = { nextAt, reason: 'timeout', from: 'running', to: 'running' } as const;
  await writer.move({ tenant, id, ...noted, now, jobs: [] });
  const reason = `workflow ${id} has timed out`;
  let cursor: string | undefined;
  do {
    const filter = { tenant, workflowId: id, states: UNFINISHED };
    const page = await store.list({ filter, limit: SLICE, ...(cursor !== undefined && { cursor }) });
    await writer.apply(changesOf(store, page.items, { do: 'cancel', by: 'workflow', reason }));
    cursor = page.cursor;
  } while (cursor !== undefined);
  const record = await store.workflows.get(tenant, id);
  // Where a node was cancelled, its end is looked at too; where all had ended before, nobody else would.
  if (record?.state === 'running') await endOf(parts, record);
  return (await store.workflows.get(tenant, id))?.state !== 'running';
}
