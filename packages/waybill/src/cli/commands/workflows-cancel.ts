import { workflowToWire } from '@waybill/client';
import { command } from '../command.ts';
import { wholeWorkflowId } from '../job-ids.ts';

const change = (verb: 'cancel' | 'resume', summary: string) =>
  command({
    name: `workflows ${verb}`,
    section: 'Schedules and workflows',
    summary,
    args: 'ID',
    run: async ({ args: [named = ''] }, context) => {
      const waybill = await context.connect();
      const workflow = await waybill.workflows[verb](await wholeWorkflowId(waybill, named));
      context.show({ workflow: workflowToWire(workflow) }, () => `${workflow.id} ${workflow.state}\n`);
      return 0;
    },
  });

export const workflowsCancel = change('cancel', 'let no further node of a workflow start');
export const workflowsResume = change('resume', 'run the failed nodes of a workflow again');
