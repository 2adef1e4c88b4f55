import type { AnyTask } from '@waybill/worker';
import { EXEC_TYPE } from './exec-job.ts';
import type { Style } from './style.ts';

/** The command knows a task by its name only. */
const PLAIN_JOB =
  'It gets the defaults of a plain job. Retries, timeout and limits of the task come with enqueue() of the SDK.';

/** What to try beside a server that has just started, for a person at a terminal. */
export function nextSteps(url: string, tasks: readonly AnyTask[], style: Style): string {
  const own = tasks.filter(({ name }) => name !== EXEC_TYPE);
  const [first] = own;
  const queue = first?.policy.queue;
  const options = queue === undefined ? '' : ` --queue ${queue}`;
  const enqueue =
    first === undefined
      ? `npx waybill enqueue sample.hello '"ada"' --queue sample --wait`
      : `npx waybill enqueue ${first.name} '{}'${options} --wait`;
  const lines = [
    style.bold('Next, in another terminal'),
    `  export WAYBILL_STORE=${url}`,
    `  ${enqueue}`,
    ...(first === undefined ? [] : [style.dim(`  ${PLAIN_JOB}`)]),
    ...(own.length < tasks.length ? ['  npx waybill exec --follow -- echo hello'] : []),
    '  npx waybill jobs list',
    '',
    ...(first === undefined
      ? [style.bold('Run your own tasks'), '  npx waybill dev tasks.js', '']
      : [`${style.bold('Working on')} ${tasks.map(({ name }) => name).join(', ')}`, '']),
    `${style.dim('Ctrl-C stops it. What happens:')}`,
  ];
  return `\n${lines.join('\n')}\n`;
}
