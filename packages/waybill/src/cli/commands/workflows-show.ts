import { workflowToDot, workflowToMermaid } from '@waybill/core';
import { command, misuse } from '../command.ts';
import { wholeWorkflowId } from '../job-ids.ts';
import { followWorkflow, viewOf, viewText, viewToWire } from '../workflow-view.ts';

const FORMATS = { mermaid: workflowToMermaid, dot: workflowToDot } as const;

export const workflowsShow = command({
  name: 'workflows show',
  section: 'Schedules and workflows',
  summary: 'show a workflow as a tree, with states and durations',
  args: 'ID',
  options: {
    follow: { about: 'until it has ended or Ctrl-C: drawn again at a terminal, elsewhere a line per change' },
    format: { value: 'FORMAT', about: 'mermaid or dot: the graph for other programs' },
  },
  run: async ({ args: [named = ''], values: { follow = false, format } }, context) => {
    const write = format === undefined ? undefined : formatNamed(format);
    if (write && (follow || context.isJson)) throw misuse('--format goes with neither --follow nor --json.');
    const waybill = await context.connect();
    const id = await wholeWorkflowId(waybill, named);
    const view = follow ? await followWorkflow(waybill, id, context) : await viewOf(waybill, id);
    if (view === null) return 0;
    // For other programs, so no line is broken.
    if (write) context.io.stdout.write(write(view.workflow, view.jobs));
    else if (follow && context.isJson) context.io.stdout.write(`${JSON.stringify(viewToWire(view))}\n`);
    else context.show(viewToWire(view), () => viewText(view, context));
    return 0;
  },
});

function formatNamed(format: string): (typeof FORMATS)[keyof typeof FORMATS] {
  if (Object.hasOwn(FORMATS, format)) return FORMATS[format as keyof typeof FORMATS];
  throw misuse(`--format must be ${Object.keys(FORMATS).join(' or ')}, not '${format}'.`);
}
