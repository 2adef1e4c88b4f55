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
const task = (name: string, run: string) => `{ name: '${name}', schema: undefined, policy: {}, run: ${run} }`;

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
