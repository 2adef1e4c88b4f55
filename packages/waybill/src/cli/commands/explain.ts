import { explanationToWire } from '@waybill/client';
import type { Explanation, Reason, RelatedJob } from '@waybill/core';
import { command } from '../command.ts';
import type { Context } from '../context.ts';
import { wholeId } from '../job-ids.ts';
import { away } from '../spans.ts';
import { hanging, oneLine } from '../text-width.ts';

export const explain = command({
  name: 'explain',
  section: 'Jobs',
  summary: 'say why a job does not run, and what to do about it',
  args: 'ID',
  notes: `All reasons at once: its queue, its limits and who holds them, its workflow, what it waits for, the workers. Of a job that
has ended it says how.`,
  run: async ({ args: [named = ''] }, context) => {
    const waybill = await context.connect();
    const explanation = await waybill.jobs.explain(await wholeId(waybill, named));
    context.show(explanationToWire(explanation), () => textOf(explanation, context));
    return 0;
  },
});

function textOf({ jobId, state, reasons }: Explanation, context: Context): string {
  const { style } = context;
  const head = `${style.bold(jobId)} ${state === null ? 'unreadable' : style.state(state)}\n`;
  return head + reasons.map((reason) => reasonText(reason, context)).join('');
}

const INDENT = '    ';

/** The code, and below it what it means, who it is about and what to do. */
function reasonText({ code, message, hint, details, jobs = [], hidden = 0 }: Reason, context: Context): string {
  const { style, io, width } = context;
  const until = typeof details['until'] === 'string' ? ` (${away(Date.parse(details['until']), io.now())})` : '';
  const lines = [
    `${INDENT}${oneLine(message)}${until}`,
    ...jobs.map((job) => `${INDENT}- ${jobText(job, context)}`),
    ...(hidden > 0 ? [`${INDENT}- ${hidden} more that this key may not see`] : []),
    ...(hint === undefined ? [] : [`${INDENT}${style.as('active', '→')} ${oneLine(hint)}`]),
  ];
  return `\n  ${style.bold(code)}\n${lines.map((line) => `${hanging(line, width, `${INDENT}  `)}\n`).join('')}`;
}

function jobText({ id, type, queue, state, node, workerId }: RelatedJob, { style }: Context): string {
  const name = node === undefined ? oneLine(type) : `${oneLine(node)} (${oneLine(type)})`;
  const where = workerId === undefined ? `in ${queue}` : `on ${oneLine(workerId)}`;
  return `${id} ${name} ${style.state(state)} ${where}`;
}
