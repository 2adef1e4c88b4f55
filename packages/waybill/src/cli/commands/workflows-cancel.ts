import { workflowToWire } from '@waybill/client';
import { command } from '../command.ts';

const change = (verb: 'cancel' | 'resume', summary: string) =>
  command({
    name: `workflows ${verb}`,
    section: 'Schedules and workflows',
    summary,
    args: 'ID',
    run: async ({ args: [id = ''] }, context) => {
      const { workflows } = await context.connect();
      const workflow = await workflows[verb](id);
      context.show({ workflow: workflowToWire(workflow) }, () => `${workflow.id} ${workflow.state}\n`);
      return 0;
    },
  });

export const workflowsCancel = change('cancel', 'let no further node of a workflow start');
export const workflowsResume = change('resume', 'run the failed nodes of a workflow again');
