import { workflowNodeToWire, workflowToWire } from '@waybill/client';
import type { WorkflowInfo, WorkflowNode, Workflows } from '@waybill/core';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { wholeWorkflowId } from '../job-ids.ts';
import { span } from '../spans.ts';
import { clipped, oneLine } from '../text-width.ts';
import { treeOf } from '../workflow-tree.ts';

const PAGE = 1_000;

export const workflowsShow = command({
  name: 'workflows show',
  section: 'Schedules and workflows',
  summary: 'show a workflow as a tree, with states and durations',
  args: 'ID',
  run: async ({ args: [named = ''] }, context) => {
    const waybill = await context.connect();
    const { workflows } = waybill;
    const id = await wholeWorkflowId(waybill, named);
    const workflow = await workflows.get(id);
    const jobs = await jobsOf(workflows, id);
    const document = { workflow: workflowToWire(workflow), jobs: jobs.map(workflowNodeToWire) };
    context.show(document, () => headOf(workflow, context) + treeOf(jobs, workflow.type, context));
    return 0;
  },
});

async function jobsOf(workflows: Workflows, id: string): Promise<WorkflowNode[]> {
  const jobs: WorkflowNode[] = [];
  let cursor: string | undefined;
  do {
    const page = await workflows.nodes(id, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
    jobs.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return jobs;
}

function headOf(workflow: WorkflowInfo, { style, io, width }: Context): string {
  const { id, name, type, state, completed, failed, cancelled, skipped, total, createdAt, finishedAt } = workflow;
  const counts = [
    `${completed} of ${total} completed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(cancelled > 0 ? [`${cancelled} cancelled`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ].join(', ');
  const took = span((finishedAt ?? io.now()) - createdAt);
  const title = clipped(oneLine(name ?? 'workflow'), width - id.length - 1);
  const { partialFailure, reason, timeoutMs } = workflow;
  const more = [
    ...(partialFailure ? [style.as('failed', 'partial failure')] : []),
    ...(reason === null ? [] : [style.as('failed', `reason: ${reason}`)]),
    ...(timeoutMs === null ? [] : [`timeout ${span(timeoutMs)}`]),
  ];
  const facts = [`${type} ${style.state(state)}`, counts, took, ...more].join(', ');
  return `${style.bold(title)} ${style.dim(id)}\n${facts}\n`;
}
