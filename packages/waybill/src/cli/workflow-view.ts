import { workflowNodeToWire, workflowToWire } from '@waybill/client';
import type { Waybill, WorkflowInfo, WorkflowNode } from '@waybill/core';
import type { Context } from './context.ts';
import { eachChange, redrawn } from './redrawn.ts';
import { span } from './spans.ts';
import { clipped, oneLine } from './text-width.ts';
import { shownState, tookOf, treeOf } from './workflow-tree.ts';

const PAGE = 1_000;

/** A workflow with all of its jobs, as it was read at one time. */
export interface WorkflowView {
  workflow: WorkflowInfo;
  jobs: WorkflowNode[];
}

/** The workflow first: where it has ended by then, so have its jobs. */
export async function viewOf({ workflows }: Waybill, id: string): Promise<WorkflowView> {
  const workflow = await workflows.get(id);
  const jobs: WorkflowNode[] = [];
  let cursor: string | undefined;
  do {
    const page = await workflows.nodes(id, { limit: PAGE, ...(cursor !== undefined && { cursor }) });
    jobs.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return { workflow, jobs };
}

export const viewToWire = ({ workflow, jobs }: WorkflowView) => ({
  workflow: workflowToWire(workflow),
  jobs: jobs.map(workflowNodeToWire),
});

export const viewText = ({ workflow, jobs }: WorkflowView, context: Context): string =>
  headOf(workflow, context) + treeOf(jobs, workflow.type, context);

/**
 * Shows the workflow until it has ended: at a terminal drawn again with each change, elsewhere one line for each change of a
 * node. Null: Ctrl-C came first.
 */
export async function followWorkflow(waybill: Waybill, id: string, context: Context): Promise<WorkflowView | null> {
  let view: WorkflowView | undefined;
  const look = async (): Promise<WorkflowView> => {
    view = await viewOf(waybill, id);
    return view;
  };
  const isOver = () => view !== undefined && view.workflow.state !== 'running';
  const told = new Map<string, string>();
  const ended =
    context.io.isTty && !context.isJson
      ? await redrawn(async () => viewText(await look(), context), waybill, context, isOver)
      : await eachChange(
          async () => {
            tellChanges(await look(), told, context);
            return isOver();
          },
          waybill,
          context,
        );
  return ended ? view! : null;
}

/** Each node whose state is another one than before, in the order in which that came about. */
function tellChanges({ jobs }: WorkflowView, told: Map<string, string>, context: Context): void {
  const { io, isJson, style } = context;
  const changed = jobs.filter((job) => job.node !== null && told.get(job.id) !== stampOf(job));
  for (const job of changed.sort((a, b) => momentOf(a) - momentOf(b) || (a.node! < b.node! ? -1 : 1))) {
    told.set(job.id, stampOf(job));
    if (isJson) {
      io.stdout.write(`${JSON.stringify({ job: workflowNodeToWire(job) })}\n`);
      continue;
    }
    const error = job.state === 'discarded' ? [oneLine(job.errors.at(-1)?.message ?? '')] : [];
    const parts = [oneLine(job.node!), style.state(shownState(job)), ...tookOf(job, io.now()), ...error];
    io.stdout.write(`${new Date(momentOf(job)).toISOString()} ${parts.join(' ')}\n`);
  }
}

/** A further run of it is told again. */
const stampOf = (job: WorkflowNode): string => `${shownState(job)} ${job.run}`;

/** Since when it is as it is, as far as its row tells. */
function momentOf({ state, finishedAt, startedAt, enqueuedAt, createdAt }: WorkflowNode): number {
  if (state === 'pending' || state === 'scheduled') return createdAt;
  const moment = finishedAt ?? (state === 'active' ? startedAt : enqueuedAt);
  return moment ?? startedAt ?? createdAt;
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
