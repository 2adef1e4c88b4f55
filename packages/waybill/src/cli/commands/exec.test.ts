import { realpathSync } from 'node:fs';
import { expect, test } from 'vitest';
import { happened, patient, programWorker } from '../testing/program-worker.ts';
import { folder, Terminal } from '../testing/terminal.ts';

/** A store with a worker for programs, and a terminal beside it. */
async function withWorker(...options: string[]): Promise<Terminal> {
  const { store } = new Terminal();
  await programWorker(store, '--quiet', '--exec', ...options);
  return patient(store);
}

const follow = (terminal: Terminal, ...program: string[]) => terminal.run('exec', '--follow', '--', ...program);
const sh = (text: string) => ['sh', '-c', text];
/** What a program waits for that reads from this pipe. */
const GO_ON = sh('echo done > go');

test('prints the id, what to do next, and how to start a worker where there is none', async () => {
  const terminal = new Terminal();
  expect(await terminal.text('exec', '--', 'npm', 'test')).toMatchInlineSnapshot(`
    "
    ID-1................................ available in queue exec
      Follow it: waybill logs ID-1................................ --follow
      Cancel it: waybill jobs cancel ID-1................................
    waybill: no worker was seen in the last minute. Start one: waybill work --exec
    "
  `);
  expect(await terminal.text('exec', '--queue', 'ci', '--store', terminal.store, '--', 'npm', 'test')).not.toContain(
    '--store',
  );
  terminal.env = { WAYBILL_STORE: '' };
  const { out, err } = await terminal.run('exec', '--queue', 'ci', '--store', terminal.store, '--', 'npm', 'test');
  expect(out).toContain(`--follow --store '${terminal.store}'\n`);
  expect(err).toContain('waybill work --exec --queues ci\n');
});

test('its job has the program as it stands, also words that look like options', async () => {
  const terminal = new Terminal();
  const program = ['npm', 'test', '--', '--grep', '-5', '--retries', '-1', '--help', '--json', ''];
  const options = ['--retries', '2', '--timeout', '5m', '--input', '{"a":1}', '--cwd', '/tmp', '--queue', 'ci'];
  const { out } = await terminal.run('exec', ...options, '--json', '--', ...program);
  expect(JSON.parse(out)).toMatchObject({
    created: true,
    job: {
      type: 'waybill.exec',
      queue: 'ci',
      args: [{ command: program, cwd: '/tmp', input: { a: 1 } }],
      max_attempts: 3,
      timeout_ms: 300_000,
    },
  });
});

test.each([
  [[], "'waybill exec' needs PROGRAM."],
  [['--'], "'waybill exec' needs PROGRAM."],
  [['--', ''], 'PROGRAM must not be empty.'],
  [['npm', 'test'], "Put -- before 'npm', as in: waybill exec -- npm"],
  [['npm', '--', '--grep', 'x'], "Put -- before 'npm'"],
  [['--retries', '-1', '--', 'true'], '--retries must be from 0 on, not -1.'],
  [['--retry', '1', '--', 'true'], "Unknown option '--retry'."],
  [['--input', '{oops', '--', 'true'], '--input is no JSON'],
  [['--follow', '--json', '--', 'true'], 'leave out --json'],
])('%j is wrong usage, and enqueues nothing', async (args, message) => {
  const terminal = new Terminal('sqlite::memory:');
  const { code, out, err } = await terminal.run('exec', ...args);
  expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringContaining(message) });
});

test('--follow shows stdout and stderr as they are, and exits as the program does', async () => {
  const terminal = await withWorker();
  const { code, bytes, err } = await follow(terminal, ...sh(String.raw`printf '\303\050\000'; printf oh >&2; exit 7`));
  expect([code, bytes.toString('hex')]).toEqual([7, 'c32800']);
  expect(err).toBe('waybill: job ID-1................................ in queue exec\noh');
  expect(await follow(terminal, 'true')).toMatchObject({ code: 0, out: '' });
});

test('--follow shows output while the program goes on', async () => {
  const terminal = await withWorker();
  const own = folder();
  terminal.onOutput = (text) => {
    // The program ends when its output was seen.
    if (text.includes('ready')) void new Terminal(terminal.store).run('exec', '--cwd', own, '--', ...GO_ON);
  };
  const program = sh('mkfifo go; echo ready; cat go');
  const { code, out } = await terminal.run('exec', '--follow', '--cwd', own, '--', ...program);
  expect([code, out]).toEqual([0, 'ready\ndone\n']);
});

test.each<[string, string[], string[], number, string | RegExp]>([
  ['a signal', [], sh('kill -TERM $$'), 143, 'The program was ended by SIGTERM'],
  ['a program that is not there', [], ['no-such-program'], 1, "'no-such-program' is in no folder of PATH"],
  ['too much memory', ['--memory-mb', '1'], sh('sleep 60'), 1, /was discarded: .*memory/i],
  ['its own timeout', ['--timeout', '300ms'], ['sleep', '60'], 1, /was discarded: .*time/],
])('--follow tells of %s', async (_, options, program, exit, why) => {
  const { code, err } = await follow(await withWorker(...options), ...program);
  expect([code, err]).toEqual([exit, expect.stringMatching(why)]);
});

test('--retries runs the program again', async () => {
  const { store } = new Terminal();
  const worker = await programWorker(store, '--quiet', '--exec');
  const terminal = patient(store);
  // The second run is due later by the clock of the worker, counted from when the failure of the first one is settled.
  const retrying = happened(store, 'job.retrying').then(() => {
    worker.terminal.now += 10_000;
  });
  const program = sh('echo $WAYBILL_ATTEMPT; exit $((2 - WAYBILL_ATTEMPT))');
  const { code, out } = await terminal.run('exec', '--follow', '--retries', '1', '--', ...program);
  expect([code, out]).toEqual([0, '1\n2\n']);
  await retrying;
});

test('--follow ends when the job is cancelled', async () => {
  const terminal = await withWorker();
  terminal.onOutput = () => void new Terminal(terminal.store).run('jobs', 'cancel', terminal.id(1));
  terminal.onError = (text) => void terminal.stable(text);
  const { code, err } = await follow(terminal, ...sh('echo begun; exec sleep 60'));
  expect([code, err]).toEqual([1, expect.stringContaining(' was cancelled')]);
});

test('Ctrl-C stops following, says how to go on, and the job goes on', async () => {
  const terminal = await withWorker();
  const own = folder();
  terminal.onOutput = () => terminal.interruption.abort();
  const program = sh('mkfifo go; echo begun; cat go');
  const { code, err } = await terminal.run('exec', '--follow', '--cwd', own, '--', ...program);
  expect(code).toBe(130);
  expect(err).toMatchInlineSnapshot(`
    "waybill: job ID-1................................ in queue exec
    waybill: no longer following job ID-1................................; it goes on.
      Follow it: waybill logs ID-1................................ --follow
      Cancel it: waybill jobs cancel ID-1................................
    "
  `);
  const after = patient(terminal.store);
  await after.run('exec', '--cwd', own, '--', ...GO_ON);
  const watched = await after.run('logs', terminal.id(1), '--follow');
  expect(watched.out).toBe('begun\ndone\n');
});

test('a job that no worker takes is told of', async () => {
  const terminal = new Terminal();
  terminal.onError = (text) => {
    if (text.includes('no worker has taken')) terminal.interruption.abort();
  };
  const { code, err } = await follow(terminal, 'true');
  expect([code, err]).toEqual([130, expect.stringContaining('start one: waybill work --exec\n')]);
});

test('a job that a worker without --exec hands back is told of', async () => {
  const { store } = new Terminal();
  await programWorker(store, '--quiet', '--command', 'true', '--type', 'a.b', '--queues', 'exec');
  const terminal = patient(store);
  terminal.onError = (text) => {
    if (text.includes('handed the job back')) terminal.interruption.abort();
  };
  expect((await follow(terminal, 'true')).code).toBe(130);
});

test('runs in the folder that is named, on an input of its own', async () => {
  const terminal = await withWorker();
  const own = realpathSync(folder());
  const { out } = await terminal.run('exec', '--follow', '--cwd', own, '--input', '[1]', '--', ...sh('pwd; cat'));
  expect(out).toBe(`${own}\n[1]`);
  expect((await follow(terminal, 'pwd')).out).toBe(`${process.cwd()}\n`);
});

test.each([
  ['5', 'must be an object with the field command'],
  ['{"command":"rm"}', 'must be a list of the program and its arguments'],
  ['{"command":["rm",1]}', 'must be a list of the program and its arguments'],
  ['{"command":["rm"],"cwd":""}', 'must be the path of a folder'],
])('a job of the type whose argument is %s fails and is not retried', async (argument, why) => {
  const terminal = await withWorker();
  const { code, err } = await terminal.run('enqueue', 'waybill.exec', argument, '--queue', 'exec', '--wait');
  expect([code, err]).toEqual([1, expect.stringContaining(why)]);
});
