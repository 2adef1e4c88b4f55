import { workflowToWire } from '@waybill/client';
import { WaybillError } from '@waybill/core';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { INTERRUPTED } from '../exit.ts';
import { type Plan, placeText, readPlan } from '../plan-file.ts';
import { oneLine } from '../text-width.ts';
import { followWorkflow, viewText, viewToWire } from '../workflow-view.ts';

const WRONG_USAGE = 2;
const MOST_SHOWN = 100;

export const workflowsSubmit = command({
  name: 'workflows submit',
  section: 'Schedules and workflows',
  summary: 'create a workflow from a file; - for stdin',
  args: 'FILE',
  options: { follow: { about: 'show it until it has ended; exit 1 unless it completed' } },
  notes: `The file is YAML or JSON, in the words of the HTTP interface:

  name: release
  nodes:
    - { id: build, type: ci.build, args: [main] }
    - { id: publish, depends_on: [build], type: ci.publish, args: [] }

All faults are told at once, with their lines, and nothing is stored then.`,
  run: async ({ args: [file = ''], values: { follow = false } }, context) => {
    const plan = await readPlan(file, context.io);
    if (plan.problems.length > 0) return refuse(plan, context);
    const waybill = await context.connect({ create: true });
    const workflow = await waybill.workflows.create(plan.request);
    const { id, state, total } = workflow;
    if (!follow) {
      const nodes = total === 1 ? '1 node' : `${total} nodes`;
      context.show({ workflow: workflowToWire(workflow) }, () => `${id} ${state}, ${nodes}\n`);
      return 0;
    }
    context.tell(`workflow ${id} was created.`);
    const view = await followWorkflow(waybill, id, context);
    if (view === null) {
      context.tell(`no longer following workflow ${id}; it goes on.`);
      return INTERRUPTED;
    }
    if (context.isJson) context.io.stdout.write(`${JSON.stringify(viewToWire(view))}\n`);
    else context.show({}, () => viewText(view, context));
    return view.workflow.state === 'completed' ? 0 : 1;
  },
});

function refuse({ name, problems }: Plan, context: Context): number {
  const count = problems.length === 1 ? 'a fault' : `${problems.length} faults`;
  if (!context.isJson) {
    const lines = problems
      .slice(0, MOST_SHOWN)
      .map(
        ({ line, path, message }) =>
          `\n  line ${line}: ${oneLine([placeText(path), message].filter(Boolean).join(': '))}`,
      );
    throw new WaybillError('invalid_request', `${name} has ${count}. Nothing was stored.${lines.join('')}`, {
      hint: 'docs/workflows.md describes workflows.',
    });
  }
  const shown = problems.map(({ line, path, message }) => ({ line, field: placeText(path), message }));
  context.show({ problems: shown }, () => '');
  return WRONG_USAGE;
}
