import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { ServerProcess } from '../../testing/server-process.ts';
import { folder, Terminal } from '../testing/terminal.ts';
import { widthOf } from '../text-width.ts';

const TASKS = `
  const task = (name, run) => ({ name, schema: undefined, policy: { queue: 'sums' }, run });
  export const double = task('math.double', (n) => n * 2);
  export const refuse = task('math.refuse', () => { throw new Error('not today'); });
`;

const tasksFile = (): string => {
  const file = path.join(folder(), 'tasks.mjs');
  writeFileSync(file, TASKS);
  return file;
};

/** Runs `dev` until its output matches, then sends Ctrl-C; answers all that it printed. */
async function devUntil(pattern: RegExp, args: string[], set: Partial<Terminal> = {}) {
  const terminal = Object.assign(new Terminal(), set);
  let text = '';
  const matched = new Promise<void>((resolve) => {
    terminal.onOutput = (more) => {
      text += more;
      if (pattern.test(stripVTControlCharacters(text))) resolve();
    };
  });
  const running = terminal.run('dev', '--port', '0', ...args);
  await Promise.race([matched, running]);
  terminal.interruption.abort();
  const { code, raw, err } = await running;
  return { code, raw, err };
}

test('D11: dev at a terminal has colour, next steps, and lines that fit', async () => {
  const { code, raw } = await devUntil(/sample\.hello \S+ completed #1/, [], { isTty: true, columns: 80 });
  expect(code).toBe(0);
  const plain = stripVTControlCharacters(raw);
  expect(plain).toMatch(/Next, in another terminal\n {2}export WAYBILL_STORE=http:\/\/127\.0\.0\.1:\d+\n/);
  expect(plain).toContain(`waybill enqueue sample.hello '"ada"' --queue sample --wait`);
  expect(raw).toContain('\u001b[32mcompleted\u001b[39m');
  expect(raw.split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
});

test('D11: dev in a pipe prints the ready line and whole events, without colour', async () => {
  const { code, raw } = await devUntil(/sample\.hello \S+ completed #1/, []);
  expect(code).toBe(0);
  expect(raw).toMatch(/^waybill ready on \S+ \(store \S+\)\n\d\d:/);
  expect(raw).toMatch(/sample\.hello [0-9a-f-]{36} completed #1/);
  expect(raw).not.toContain('\u001b');
});

test('D11: dev runs the tasks of a module in place of the sample', async () => {
  const store = `sqlite:${path.join(folder(), 'dev.db')}`;
  const other = new Terminal(store);
  await other.run('enqueue', 'math.double', '21', '--queue', 'sums');
  const args = [tasksFile(), '--store', store];
  const { code, raw } = await devUntil(/math\.double \S+ completed #1/, args, { isTty: true, columns: 80 });
  expect(code).toBe(0);
  const plain = stripVTControlCharacters(raw);
  expect(plain).toContain('Working on math.double, math.refuse\n');
  expect(plain).toContain("waybill enqueue math.double '{}' --queue sums --wait");
  expect(plain).not.toContain('sample');
  // M7: the proposed command knows nothing of the policy that the task has.
  expect(plain.replaceAll(/\s+/g, ' ')).toContain(
    'It gets the defaults of a plain job. Retries, timeout and limits of the task come with enqueue() of the SDK.',
  );
  expect((await other.run('jobs', 'list', '--json')).out).toContain('"result": 42');
});

test('dev --exec runs programs beside the sample, and says how to try it', async () => {
  const store = `sqlite:${path.join(folder(), 'dev.db')}`;
  await new Terminal(store).run('exec', '--', 'true');
  const set = { isTty: true, columns: 80 };
  const { code, raw } = await devUntil(/waybill\.exec \S+ completed #1/, ['--exec', '--store', store], set);
  expect(code).toBe(0);
  const plain = stripVTControlCharacters(raw);
  expect(plain).toContain('  npx waybill exec --follow -- echo hello\n');
  expect(plain).toMatch(/waybill\.exec \S+ completed #1/);
});

test('D11: dev refuses a module without tasks', async () => {
  const file = path.join(folder(), 'none.mjs');
  writeFileSync(file, 'export {};');
  const { code, err } = await new Terminal('sqlite::memory:').run('dev', file);
  expect([code, err]).toEqual([2, expect.stringContaining('exports no tasks')]);
});

/** What `work` logs about a job that fails. */
async function logged(args: string[], set: Partial<Terminal>): Promise<string> {
  const terminal = Object.assign(new Terminal(), set);
  const working = terminal.run('work', tasksFile(), ...args);
  await new Terminal(terminal.store).run(
    'enqueue',
    'math.refuse',
    '--queue',
    'sums',
    '--wait',
    '--retry',
    '{"max_attempts":1}',
  );
  terminal.interruption.abort();
  return (await working).err;
}

test('D11: logs at a terminal are lines for people', async () => {
  const err = await logged([], { isErrTty: true });
  expect(stripVTControlCharacters(err)).toMatch(/^\d\d:\d\d:\d\d\.\d{3} (INFO|WARN|ERROR) +\S.*not today/m);
  expect(err).toContain('\u001b[');
  expect(err).not.toContain('{"level"');
});

test('D11: --log-format pretty asks for them in a pipe too, without colour', async () => {
  const err = await logged(['--log-format', 'pretty'], {});
  expect(err).toMatch(/^\d\d:\d\d:\d\d\.\d{3} (WARN|ERROR) +\S.*not today/m);
  expect(err).not.toContain('\u001b[');
});

test('D11: serve logs JSON in a pipe, and text where asked for', async () => {
  const stopped = async (pattern: RegExp, ...args: string[]): Promise<void> => {
    const store = `sqlite:${path.join(folder(), 'log.db')}`;
    const line = ['serve', '--store', store, '--port', '0', ...args];
    const server = await ServerProcess.start(line, { WAYBILL_LOG: 'info' });
    const ended = server.end('SIGTERM');
    // Refused with all that was printed when the process ends without it.
    await server.printed(pattern);
    await ended;
  };
  await stopped(/^\{"level":30,.*"msg":"Stopping/m);
  await stopped(/^\d\d:\d\d:\d\d\.\d{3} INFO +Stopping/m, '--log-format', 'pretty');
});

test('D11: another form is refused', async () => {
  const { code, err } = await new Terminal('sqlite::memory:').run('serve', '--log-format', 'prety');
  expect([code, err]).toEqual([
    2,
    expect.stringContaining("--log-format must be pretty or json, not 'prety'. Did you mean 'pretty'?"),
  ]);
});

test('the option that --log-format has replaced is refused with its new name', async () => {
  const { code, err } = await new Terminal('sqlite::memory:').run('serve', '--log', 'text');
  expect([code, err]).toEqual([2, expect.stringContaining("Did you mean '--log-format'?")]);
});

test.skipIf(spawnSync('script', ['--version']).status !== 0)(
  'D11: the width is that of a real terminal (skipped: needs script)',
  () => {
    const bin = path.resolve(import.meta.dirname, '../../../bin/waybill.js');
    const line = `stty cols 60; ${process.execPath} ${bin} doctor --store sqlite:/no/such/folder/at/all/with/a/long/path/waybill.db`;
    const { stdout } = spawnSync('script', ['-qec', line, '/dev/null'], { encoding: 'utf8' });
    expect(stdout).toContain('\u001b[33mwarn');
    expect(stdout.split(/\r?\n/).filter((text) => widthOf(text) > 60)).toEqual([]);
  },
);
