import { workflowToWire } from '@waybill/client';
import type { WorkflowInfo } from '@waybill/core';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { wholeWorkflowId } from '../job-ids.ts';
import { readInteger, readJson } from '../read-value.ts';

const BY = { by: 'cli' } as const;

const ITERATION = { iteration: { value: 'N', about: 'refused where another iteration is in review' } } as const;

const iterationOf = (text: string | undefined): { iteration?: number } =>
  text === undefined ? {} : { iteration: readInteger('--iteration', text) };

function shown(workflow: WorkflowInfo, done: string, context: Context): number {
  context.show({ workflow: workflowToWire(workflow) }, () => `${done}, workflow ${workflow.id} ${workflow.state}\n`);
  return 0;
}

export const workflowsApprove = command({
  name: 'workflows approve',
  section: 'Schedules and workflows',
  summary: 'approve a node that is in review',
  args: 'ID NODE',
  options: { comment: { value: 'TEXT', about: 'for the log' }, ...ITERATION },
  run: async ({ args: [named = '', node = ''], values: { comment, iteration } }, context) => {
    const waybill = await context.connect();
    const id = await wholeWorkflowId(waybill, named);
    const approval = { ...iterationOf(iteration), ...(comment !== undefined && { comment }) };
    return shown(await waybill.workflows.approve(id, node, approval, BY), `${node} approved`, context);
  },
});

export const workflowsRevise = command({
  name: 'workflows revise',
  section: 'Schedules and workflows',
  summary: 'let a node in review run again, with feedback',
  args: 'ID NODE FEEDBACK',
  options: ITERATION,
  notes: 'The next iteration gets its output and the feedback. At most five iterations in all.',
  run: async ({ args: [named = '', node = '', feedback = ''], values: { iteration } }, context) => {
    const waybill = await context.connect();
    const id = await wholeWorkflowId(waybill, named);
    const request = { feedback, ...iterationOf(iteration) };
    return shown(await waybill.workflows.requestRevision(id, node, request, BY), `${node} runs again`, context);
  },
});

export const workflowsSignal = command({
  name: 'workflows signal',
  section: 'Schedules and workflows',
  summary: 'send a signal that a node waits for',
  args: 'ID NAME [DATA-JSON]',
  notes: 'Without DATA-JSON the data is null. The same signal with the same data may be sent again.',
  run: async ({ args: [named = '', name = '', data] }, context) => {
    const waybill = await context.connect();
    const id = await wholeWorkflowId(waybill, named);
    const given = data === undefined ? null : readJson('DATA-JSON', data);
    return shown(await waybill.workflows.signal(id, name, given, BY), `${name} sent`, context);
  },
});
