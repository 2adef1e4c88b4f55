import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { folder, Terminal } from '../testing/terminal.ts';

const module = (text: string): string => {
  const file = path.join(folder(), 'tasks.mjs');
  writeFileSync(file, text);
  return file;
};

/** What task(..) answers, written out: a folder elsewhere does not find the package. */
const task = (name: string, run: string, policy = '{}') =>
  `{ name: '${name}', schema: undefined, policy: ${policy}, run: ${run} }`;

test('works on the tasks of a module until Ctrl-C', async () => {
  const terminal = new Terminal();
  const file = module(`
    export const double = ${task('math.double', '(n) => n * 2')};
    export default [double, ${task('math.half', '(n) => n / 2')}];
  `);
  const working = terminal.run('work', file, '--quiet', '--concurrency', '2');
  const other = new Terminal(terminal.store);
  expect(await other.text('enqueue', 'math.double', '21', '--wait')).toBe('\n42\n');
  expect(await other.text('enqueue', 'math.half', '21', '--wait')).toBe('\n10.5\n');
  terminal.interruption.abort();
  const { code, out } = await working;
  expect(code).toBe(0);
  expect(out).toMatch(/^waybill works on math\.double, math\.half as \S+\n$/);
});

test.each([
  ['export const nothing = 1;', 'exports no tasks'],
  ['export const = ;', 'cannot be loaded: '],
  ["throw new Error('not today');", 'cannot be loaded: Error: not today'],
])('a module with %j is wrong usage', async (text, message) => {
  const { code, err } = await new Terminal('sqlite::memory:').run('work', module(text));
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
  expect(err).not.toContain('    at ');
});

/** Tasks of two queues, each run of which answers how many started before it. */
const twoQueues = () =>
  module(`
    let starts = 0;
    export const bulk = ${task('bulk.one', '() => starts++', "{ queue: 'bulk' }")};
    export const mail = ${task('mail.one', '() => starts++', "{ queue: 'mail' }")};
  `);

/** Which start the last mail was, behind 60 bulk jobs, where `waybill work` runs with these options. */
async function lastOfTenMails(...options: string[]): Promise<number> {
  const terminal = new Terminal();
  await terminal.run('migrate');
  const file = twoQueues();
  const jobs = (name: string, count: number) =>
    Array.from({ length: count }, () => ({ type: `${name}.one`, args: [], options: { queue: name } }));
  return terminal.engine(async (waybill) => {
    await waybill.jobs.enqueueMany([...jobs('bulk', 60), ...jobs('mail', 10)]);
    const working = terminal.run('work', file, '--quiet', '--concurrency', '2', ...options);
    const over = new AbortController();
    let left = 70;
    const filter = { types: ['job.completed' as const] };
    for await (const _ of waybill.events.follow({ filter, signal: over.signal })) {
      left -= 1;
      if (left === 0) break;
    }
    over.abort();
    terminal.interruption.abort();
    expect((await working).code).toBe(0);
    const { items } = await waybill.jobs.list({ filter: { queues: ['mail'] }, limit: 100 });
    return Math.max(...items.map(({ result }) => Number(result)));
  });
}

test('D7: the queues of the tasks share the starts, whatever the names of the exports are', async () => {
  expect(await lastOfTenMails()).toBeLessThan(30);
});

test('D7: weights and order are options', async () => {
  expect(await lastOfTenMails('--queues', 'bulk,mail=9')).toBeLessThan(20);
  expect(await lastOfTenMails('--queues', 'bulk,mail', '--order', 'strict')).toBe(69);
});

test('D7: so are bounds of single queues', async () => {
  expect(await lastOfTenMails('--bounds', 'bulk=1')).toBeLessThan(30);
});

test.each([
  [['--queues', 'mail=0'], "--queues must have a name and a whole number from 1 to 1000, not 'mail=0'."],
  [['--queues', 'mail=1001'], "not 'mail=1001'."],
  [['--queues', 'mail=1=2'], "not 'mail=1=2'."],
  [['--queues', '=3'], "not '=3'."],
  [['--queues', 'mail='], "not 'mail='."],
  [['--order', 'strickt'], "--order must be fair or strict, not 'strickt'. Did you mean 'strict'?"],
  [['--order', 'strict', '--queues', 'mail=2'], "means nothing with order 'strict'"],
  [['--bounds', 'mail'], "--bounds has no number for 'mail'."],
  [['--bounds', 'bullk=2'], "which this worker does not work on. Did you mean 'bulk'?"],
])('D7: %j is wrong usage', async (options, message) => {
  const { code, err } = await new Terminal('sqlite::memory:').run('work', twoQueues(), '--quiet', ...options);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
});
