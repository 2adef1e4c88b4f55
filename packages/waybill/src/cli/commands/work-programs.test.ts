import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { lacksPython, patient, programWorker } from '../testing/program-worker.ts';
import { folder, Terminal } from '../testing/terminal.ts';

const newStore = () => new Terminal().store;

/** What a job of this type comes to, once it has finished. */
const result = async (store: string, type: string, ...args: string[]) =>
  (await new Terminal(store).run('enqueue', type, ...args, '--wait')).out.trim();

const PLAIN = ['--log-format', 'pretty'];

test('--command runs any text of the shell as a task, and its output is on the log of the worker', async () => {
  const store = newStore();
  const { stop } = await programWorker(
    store,
    ...PLAIN,
    '--command',
    'cat | sed s/b/c/; echo seen >&2',
    '--type',
    'a.b',
  );
  expect(await result(store, 'a.b', '"abc"')).toBe('acc');
  const { code, out, err } = await stop();
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^waybill works on a\.b as \S+\n$/) });
  expect(err).toMatch(/ INFO {2}\[a\.b:ID-1\.+\] seen\n/);
  expect(err).toMatch(/ INFO {2}\[a\.b:ID-1\.+\] "acc"\n/);
});

test('the log of a worker at a terminal has all that programs print, and nothing that takes over the terminal', async () => {
  const store = newStore();
  const command = String.raw`seq 500; printf '\033[2J\033[31mred\033[0m\033]0;title\007\n' >&2`;
  const { terminal, stop } = await programWorker(store, ...PLAIN, '--command', command, '--type', 'a.b');
  expect(terminal.isErrTty).toBe(false);
  await result(store, 'a.b');
  const { err } = await stop();
  const said = [...err.matchAll(/ INFO {2}\[a\.b:ID-1\.+\] (.*)\n/g)].map(([, line]) => line);
  expect(said.filter((line) => /^\d+$/.test(line!))).toEqual(Array.from({ length: 500 }, (_, index) => `${index + 1}`));
  expect(said).toContain('red');
});

test.skipIf(lacksPython)('a Python script is a task (skipped: needs python3)', async () => {
  const own = folder();
  const text = 'import json, sys\nn = json.load(sys.stdin)\nprint(json.dumps({"doubled": n * 2}))\n';
  writeFileSync(path.join(own, 'step.py'), text);
  const store = newStore();
  await programWorker(store, '--quiet', '--command', 'python3 step.py', '--type', 'py.step', '--cwd', own);
  expect(JSON.parse(await result(store, 'py.step', '21'))).toEqual({ doubled: 42 });
});

test('a program gets of the environment what is named, and has limits', async () => {
  const store = newStore();
  process.env['WAYBILL_TEST_GIVEN'] = 'given';
  process.env['WAYBILL_TEST_KEPT'] = 'kept';
  try {
    const command = 'if [ "$(cat)" = 1 ]; then exec sleep 60; fi; echo "\\"$WAYBILL_TEST_GIVEN,$WAYBILL_TEST_KEPT\\""';
    const options = ['--inherit-env', 'WAYBILL_TEST_GIVEN', '--timeout', '1s', '--memory-mb', '500', '--cpu', '30s'];
    await programWorker(store, '--quiet', '--command', command, '--type', 'a.b', ...options);
    expect(await result(store, 'a.b', '2')).toBe('given,');
    const late = await new Terminal(store).run('enqueue', 'a.b', '1', '--retry', '{"max_attempts":1}', '--wait');
    expect([late.code, late.err]).toEqual([1, expect.stringMatching(/was discarded: .*time/)]);
  } finally {
    delete process.env['WAYBILL_TEST_GIVEN'];
    delete process.env['WAYBILL_TEST_KEPT'];
  }
});

test('--concurrency bounds the processes of a worker that runs nothing else', async () => {
  const store = newStore();
  const own = folder();
  // Each run waits for another one, so that none ends unless two are under way.
  const command = `touch "$WAYBILL_JOB_ID"; until [ "$(ls | wc -l)" -ge 4 ]; do sleep 0.02; done`;
  await programWorker(store, '--quiet', '--command', command, '--type', 'a.b', '--cwd', own, '--concurrency', '4');
  const all = await Promise.all([1, 2, 3, 4].map((n) => result(store, 'a.b', String(n))));
  expect(all).toEqual(['null', 'null', 'null', 'null']);
});

/** A module with one task, which runs in the process of the worker. */
function module(policy = '{}'): string {
  const file = path.join(folder(), 'tasks.mjs');
  writeFileSync(file, `export const one = { name: 'in.process', policy: ${policy}, run: () => process.pid };`);
  return file;
}

test('a module and programs run side by side, in queues of their own', async () => {
  const store = newStore();
  const programs = ['--command', 'echo $PPID', '--type', 'a.b', '--exec'];
  await programWorker(store, '--quiet', module(), ...programs, '--queues', 'default,programs');
  expect(await result(store, 'in.process')).toBe(String(process.pid));
  expect(Number(await result(store, 'a.b', '--queue', 'programs'))).toBeGreaterThan(0);
  const { code, out } = await patient(store).run('exec', '--follow', '--queue', 'programs', '--', 'echo', 'hello');
  expect([code, out]).toEqual([0, 'hello\n']);
});

const COMMAND = ['--command', 'true', '--type', 'a.b'];

test.each([
  [[], "'waybill work' needs MODULE, --command, --exec or --preset."],
  [['--type', 'a.b'], '--type has a meaning only with --command.'],
  [['--type', 'a.b', '--exec'], '--type has a meaning only with --command.'],
  [['--command', 'true'], '--command needs --type'],
  [['--command', '', '--type', 'a.b'], '--command must not be empty.'],
  [['--command', 'true', '--type', 'A B'], "Invalid task name 'A B'"],
  [[...COMMAND, '--memory-mb', 'much'], "--memory-mb must be a whole number, not 'much'."],
  [[...COMMAND, '--memory-mb', '0'], '--memory-mb must be from 1 to'],
  [[...COMMAND, '--max-output-mb', '-1'], '--max-output-mb must be from 1 to'],
  [[...COMMAND, '--timeout', 'soon'], "--timeout must be a duration, not 'soon'."],
  [[...COMMAND, '--cpu', '0s'], '--cpu must be longer than nothing'],
  [[...COMMAND, '--cwd', ''], '--cwd must not be empty.'],
  [[...COMMAND, '--inherit-env', 'A,,B'], '--inherit-env must not be empty, nor have empty items.'],
  [[...COMMAND, '--processes', '0'], '--processes must be from 1 to 1000, not 0.'],
])('%j is wrong usage', async (options, message) => {
  const { code, err } = await new Terminal('sqlite::memory:').run('work', '--quiet', ...options);
  expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(message) });
});

test('limits need something that they limit', async () => {
  const { code, err } = await new Terminal('sqlite::memory:').run('work', module(), '--memory-mb', '5');
  expect([code, err]).toEqual([2, expect.stringContaining('--memory-mb has a meaning only with --command or --exec.')]);
});

test('a program that would take the queue of a module is refused, and the refusal says what to do', async () => {
  const { code, err } = await new Terminal('sqlite::memory:').run('work', module(), ...COMMAND);
  expect([code, err]).toEqual([2, expect.stringContaining("take queue 'default', so --command needs another one.")]);
  expect(err).toContain('--queues default,programs');
});

test('the configuration file names a program, and limits of it do no harm to other workers', async () => {
  const own = folder();
  const file = path.join(own, 'waybill.config.json');
  const program = { command: 'echo "\\"from file\\""', type: 'a.b', memoryMb: 200, timeout: '1m' };
  writeFileSync(file, JSON.stringify({ worker: { processes: 2, program } }));
  const store = newStore();
  await programWorker(store, '--quiet', '--config', file);
  expect(await result(store, 'a.b')).toBe('from file');

  writeFileSync(file, JSON.stringify({ worker: { program: { memoryMb: 200 } } }));
  const other = newStore();
  await programWorker(other, module(), '--quiet', '--config', file);
  expect(await result(other, 'in.process')).toBe(String(process.pid));
});
