import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { StandardSchemaV1 } from '../standard-schema.ts';
import { type AnyTask, task } from '../task.ts';
import { bench, LogBook } from '../testing/bench.ts';
import type { Command, IsolateOptions } from './isolate-options.ts';
import { isolatedFor, isolatedRunner } from './isolated-runner.ts';

/** Why no file can be made that its owner cannot remove: the user, the file system or the machine. */
const lacksImmutable = ((): boolean => {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-immutable-'));
  const lacks = spawnSync('chattr', ['+i', folder]).status !== 0;
  if (!lacks) spawnSync('chattr', ['-i', folder]);
  rmdirSync(folder);
  return lacks;
})();

/** Where runs have their folders until the test ends, whatever they leave there. */
function ownTemporaryFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'waybill-immutable-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    spawnSync('chattr', ['-R', '-i', folder]);
    rmSync(folder, { recursive: true });
  });
}

const FAST = { isolated: { abortMs: 100, killAfterMs: 300 } };
const sh = (text: string): Command => ['/bin/sh', '-c', text];

/** What a command comes to, run once. */
async function ran(
  isolate: IsolateOptions,
  input: unknown = undefined,
  maxResultBytes = 1_000,
  validate: StandardSchemaV1['~standard']['validate'] = (value) => ({ value }),
) {
  const { work, add, waybill, logs } = bench();
  const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate } };
  const program = task('command.one', { isolate, input: schema, retry: { max_attempts: 1 } }) as AnyTask;
  work([program], { ...FAST, maxResultBytes });
  const { id } = await add(program, input);
  const over = new AbortController();
  const types = ['job.completed', 'job.discarded'] as const;
  for await (const _ of waybill.events.follow({ filter: { jobIds: [id], types }, signal: over.signal })) break;
  over.abort();
  const job = await waybill.jobs.get(id);
  const { entries } = await waybill.jobs.journal(id);
  return { ...job, error: job.errors.at(-1), entries, warnings: logs.warnings() };
}

describe('a task with isolate.command', () => {
  it.each([
    ['its input on stdin', 'cat', { a: [1, 'ä'] }, { a: [1, 'ä'] }],
    ['its input in a file', 'cat "$WAYBILL_INPUT_FILE"', 'text', 'text'],
    ['no input as null', 'cat', undefined, null],
    ['a result in a file, before its stdout', 'echo 1; printf \'{"b":2}\' > "$WAYBILL_RESULT_FILE"', null, { b: 2 }],
    ['a result on stdout', 'echo "[1, 2]"', null, [1, 2]],
    ['null for other output', 'echo done; echo twice', null, null],
    ['null for no output', ':', null, null],
    ['null for output that is larger than a result', 'yes 1 | head -c 5000', null, null],
    ['null for lines of JSON that are larger than a result', 'yes \'{"a":1}\' | head -c 5000', null, null],
    ['null for a log that is larger than a result', 'yes "[info] {working" | head -c 5000', null, null],
    ['the result on stdout where its file is empty', 'echo 1; : > "$WAYBILL_RESULT_FILE"', null, 1],
  ])('has %s', async (_, text, input, result) => {
    expect(await ran({ command: sh(text) }, input)).toMatchObject({ state: 'completed', result });
  });

  it('may have a timeout that is longer than a timer', async () => {
    expect(await ran({ command: sh('sleep 0.2; echo 1'), timeout: 2 ** 31 })).toMatchObject({ result: 1 });
  });

  it.each([null, 0, false, ''])(
    'may be given %j for its input, and then does not see that of the job',
    async (input) => {
      expect(await ran({ command: () => ({ command: sh('cat'), input }) }, 'of the job')).toMatchObject({
        result: input,
      });
    },
  );

  it('may be chosen by its input, with a folder and an input of its own', async () => {
    const command = ({ folder }: { folder: string }) => ({ command: sh('pwd >&2; cat'), cwd: folder, input: [folder] });
    const { result, entries } = await ran({ command }, { folder: '/' });
    expect(result).toEqual(['/']);
    const printed = entries.find(({ stream }) => stream === 'stderr');
    expect(Buffer.from(printed!.output!).toString()).toBe('/\n');
  });

  it.each<[string, unknown, object]>([
    [
      'the text of it where it is JSON',
      { at: new Date(0), list: [1] },
      { state: 'completed', result: { at: '1970-01-01T00:00:00.000Z', list: [1] } },
    ],
    [
      'none where it is not',
      new Map(),
      { state: 'discarded', errors: [{ code: 'invalid_payload', message: expect.stringContaining('it is a Map') }] },
    ],
  ])('is given what the schema of its task makes: %s', async (_, value, expected) => {
    expect(await ran({ command: sh('cat') }, 'raw', 1_000, () => ({ value }))).toMatchObject(expected);
  });

  it.each<[string, IsolateOptions, object]>([
    [
      'exit code 3',
      { command: sh('echo why >&2; exit 3') },
      { code: 'nonzero', details: { exit_code: 3, last_output: 'why\n' } },
    ],
    ['exit code 127 of its own', { command: sh('exit 127') }, { code: 'nonzero', details: { exit_code: 127 } }],
    ['a signal', { command: sh('kill -TERM $$') }, { code: 'signal', details: { signal: 'SIGTERM' } }],
    ['its timeout', { command: sh('sleep 60'), timeout: 200 }, { code: 'timeout', details: { outcome: 'timeout' } }],
    ['a program that is not there', { command: ['no-such-program'] }, { code: 'spawn_failed' }],
    ['a folder that is not there', { command: sh(':'), cwd: '/no/such/folder' }, { code: 'spawn_failed' }],
    ['too much output', { command: sh('yes'), maxOutputBytes: 10_000 }, { code: 'output_limit' }],
    ['a result that is no JSON', { command: sh('echo "{" > "$WAYBILL_RESULT_FILE"') }, { code: 'invalid_result' }],
    [
      'a result that is too large',
      { command: sh('yes 1 | head -c 5000 > "$WAYBILL_RESULT_FILE"') },
      { code: 'invalid_result' },
    ],
    [
      'a document on stdout that is too large',
      { command: sh('echo "[1"; yes ",\\"]\\"" | head -c 5000; echo "]"') },
      { code: 'invalid_result', message: expect.stringContaining('more than 1000') },
    ],
    ['a function that answers no command', { command: () => [] as never }, { code: 'invalid_request' }],
  ])('fails by %s, and its row says so', async (_, isolate, error) => {
    expect(await ran(isolate)).toMatchObject({ state: 'discarded', errors: [error] });
  });

  it.each([
    ['a FIFO', 'mkfifo "$WAYBILL_RESULT_FILE"', 'not a regular file'],
    ['a folder', 'mkdir "$WAYBILL_RESULT_FILE"', 'not a regular file'],
    ['a link to a device', 'ln -s /dev/zero "$WAYBILL_RESULT_FILE"', 'symbolic link'],
    ['a link to itself', 'ln -s "$WAYBILL_RESULT_FILE" "$WAYBILL_RESULT_FILE"', 'symbolic link'],
    [
      'a socket',
      `${process.execPath} -e 'net.createServer().listen(process.env.WAYBILL_RESULT_FILE, () => process.kill(process.pid, "SIGKILL"))' || :`,
      'not a regular file',
    ],
  ])('fails where its result file is %s, and its worker goes on', async (_, text, why) => {
    const error = { code: 'invalid_result', message: expect.stringContaining(why) };
    expect(await ran({ command: sh(text) })).toMatchObject({ state: 'discarded', errors: [error] });
  });

  // fault: what a run leaves cannot be removed
  it.skipIf(lacksImmutable)('completes where its folder cannot be removed, and its worker warns', async () => {
    ownTemporaryFolder();
    const { state, result, warnings } = await ran({ command: sh('> "$HOME/kept"; chattr +i "$HOME/kept"; echo 1') });
    expect([state, result]).toEqual(['completed', 1]);
    expect(warnings).toEqual(['Could not remove the folder of an isolated run. Remove it by hand.']);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'runs as another user, who has the folder of the run (only as root)',
    async () => {
      const text =
        'id -u; id -g; cat "$WAYBILL_INPUT_FILE"; > "$HOME/x"; echo "[\\"$(id -un)\\"]" > "$WAYBILL_RESULT_FILE"';
      const { state, result, entries } = await ran(
        { command: sh(text), cwd: '/', user: { uid: 65534, gid: 65534 } },
        'in',
      );
      expect([state, result]).toEqual(['completed', ['nobody']]);
      const printed = entries.map(({ output }) => (output ? Buffer.from(output).toString() : '')).join('');
      expect(printed).toBe('65534\n65534\n"in"');
    },
  );

  it.skipIf(process.getuid?.() === 0)('cannot run as another user where its worker is not root', async () => {
    const error = {
      code: 'spawn_failed',
      message: expect.stringContaining('Only root can start a program as user 65534'),
    };
    expect(await ran({ command: sh(':'), user: { uid: 65534, gid: 65534 } })).toMatchObject({ errors: [error] });
  });

  it('keeps the last of its output with the failure, without secrets', async () => {
    const { error, entries } = await ran({
      command: sh('yes line | head -c 100000; echo password=hunter2-hunter2; exit 1'),
    });
    const { last_output: tail } = error!.details as { last_output: string };
    expect(tail).toContain('line\n');
    expect(tail.length).toBeLessThanOrEqual(4_000);
    const failed = entries.find(({ type }) => type === 'process.failed')!.data as { last_output: string };
    expect(failed.last_output.length).toBeGreaterThan(60_000);
    expect(JSON.stringify([error, failed])).not.toContain('hunter2');
  });

  it.each([
    ['TypeError: x is not a function', false],
    ['Error: connect ECONNREFUSED 127.0.0.1:80', true],
    ['something is odd', undefined],
  ])('is told apart by its last words where its task asks for that: %s', async (words, retryable) => {
    const { work, add, happened } = bench();
    const isolate = { command: ['/bin/sh', '-c', `echo '${words}' >&2; exit 1`] as const };
    const program = task('command.one', { isolate, classifyErrors: true, retry: { max_attempts: 2 } });
    work([program], FAST);
    const { id } = await add(program);
    const job = await happened(id, retryable === false ? 'job.discarded' : 'job.retrying');
    expect(job.errors[0]?.retryable).toBe(retryable);
  });

  it('is not one that the worker could call', async () => {
    const program = task('command.one', { isolate: { command: sh(':') } });
    expect(() => program.run({}, {} as never)).toThrow("has no 'run'");
  });
});

describe('options of an isolated task', () => {
  const define = (isolate: unknown, run?: () => void) => () => task('a.b', { isolate, run } as never);

  it.each<[unknown, string]>([
    [{}, "either 'module' or 'command'"],
    [{ module: 'a.ts', command: ['a'] }, "either 'module' or 'command'"],
    [{ module: 'https://example.com/a.js' }, "'isolate.module' must be"],
    [{ command: 'npm test' }, "'isolate.command' must be a list"],
    [{ command: [] }, "'isolate.command' must be a list"],
    [{ command: ['a'], memoryMB: 5 }, "Did you mean 'memoryMb'?"],
    [{ command: ['a'], memoryMb: 0 }, "'isolate.memoryMb' must be"],
    [{ command: ['a'], timeout: '5m' }, "'isolate.timeout' must be whole milliseconds above 0, not '5m'"],
    [{ command: ['a'], cpuSeconds: Number.NaN }, "'isolate.cpuSeconds' must be"],
    [{ command: ['a'], maxOutputBytes: -1 }, "'isolate.maxOutputBytes' must be"],
    [{ command: ['a'], env: { A: 1 } }, "'isolate.env' must be"],
    [{ command: ['a'], inheritEnv: true }, "'isolate.inheritEnv' must be"],
    [{ command: ['a'], warm: 1 }, "'isolate.warm' must be left out"],
    [{ module: 'a.ts', warm: 1.5 }, "'isolate.warm' must be an integer"],
    [{ command: ['a'], user: { uid: 1000 } }, "'isolate.user' must be the numbers of a user and its group"],
    [{ command: ['a'], user: { uid: 1000, gid: 1000, name: 'ann' } }, "'isolate.user' must be"],
    [null, 'must be an object'],
  ])('%j are refused where the task is defined', (isolate, message) => {
    expect(define(isolate)).toThrow(message);
  });

  it.each<[object, string]>([
    [{ killAftrMs: 5 }, "Did you mean 'killAfterMs'?"],
    [{ concurrency: 0 }, "'concurrency' must be a whole number above 0, not 0"],
    [{ abortMs: '1s' }, "'abortMs' must be whole milliseconds from 0 on, not '1s'"],
    [{ label: 'x' }, "'label' must be a function of the job"],
  ])('%j of a runner are refused where it is made', (options, message) => {
    expect(() => isolatedRunner(options)).toThrow(message);
    expect(() => isolatedFor({ tasks: [], isolated: options }, { logger: new LogBook(), maxResultBytes: 1 })).toThrow(
      message,
    );
  });

  it('take no handler beside a command', () => {
    expect(define({ command: ['a'] }, () => {})).toThrow("both 'run' and 'isolate.command'");
  });
});
