import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../../../..', import.meta.url));

/** Runs code as an application would, in the repository, so that the packages are found under their own names. */
const application = (code: string) => [process.execPath, ['--input-type=module', '-e', code], { cwd: root }] as const;

const failing = (options: string, before = '') => `
import { connect, silentLogger, task } from 'waybill';
const welcome = task('email.welcome', {
  retry: { max_attempts: 2, initial_interval: 'PT0.05S', jitter: false },
  run: () => { throw new Error('no luck'); },
});
const waybill = await connect('sqlite::memory:', ${options});
${before}
const worker = waybill.work([welcome], { leaseMs: 1000, heartbeatMs: 500 });
const job = await waybill.enqueue(welcome, { password: 'my-payload' });
await waybill.wait(job).catch(() => {});
await waybill.close();
`;

test('D2: without a logger, failed runs are told on stderr', async () => {
  const { stdout, stderr } = await run(...application(failing('{}')));
  const [first, second, ...others] = stderr.trimEnd().split('\n');
  expect(first).toMatch(
    /^\d{4}-\S+Z WARN {2}waybill: Job (\S{36}) email\.welcome failed on attempt 1 of 2: no luck\. It will be retried in 0\.1 s\. See: waybill jobs show \1 run=1 attempt=1 at=\S+:\d+$/,
  );
  expect(second).toMatch(
    /WARN {2}waybill: Job (\S{36}) email\.welcome became a dead letter after 2 attempts: no luck\. Run it again: waybill dead replay \1 run=2/,
  );
  expect(others).toEqual([]);
  expect(stderr).not.toContain('my-payload');
  expect(stdout).toBe('');
});

test('D2: with silentLogger nothing is told', async () => {
  const { stderr } = await run(...application(failing('{ logger: silentLogger }')));
  expect(stderr).toBe('');
});

test('D3: an error that the worker did not expect is told on stderr, with its place', async () => {
  // The very function that an old Node lacks, lacking once. The run is not settled, so its lease has to run out.
  const gone = `
const value = Promise.withResolvers;
const configurable = true;
const once = () => {
  if (!new Error().stack.includes('run-task')) return value;
  Object.defineProperty(Promise, 'withResolvers', { value, configurable });
};
Object.defineProperty(Promise, 'withResolvers', { get: once, configurable });
`;
  const { stderr } = await run(...application(failing('{}', gone)));
  expect(stderr).toMatch(
    /ERROR waybill: The worker met an unexpected error\. TypeError: Promise\.withResolvers is not a function\n {4}at .*run-task/,
  );
  // The engine tells of the run that was lost so.
  expect(stderr).toMatch(/Job \S+ email\.welcome failed on attempt 1 of 2: The lease ran out/);
});

test('D3: that PostgreSQL cannot be reached is told at once, by its address and without the password', async () => {
  const code = `
import { connect } from 'waybill';
await connect('postgres://u:s3cret@127.0.0.1:1/orders');
`;
  const child = spawn(...application(code));
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = await once(createInterface(child.stderr), 'line');
  expect(line).toMatch(
    /PostgreSQL cannot be reached\. \(127\.0\.0\.1:1\/orders\) Calls are repeated until it answers\./,
  );
  expect(line).not.toContain('s3cret');
});

test('D10: a type that no task has is told once on stderr, however many jobs and workers there are', async () => {
  const code = `
import { connect, task } from 'waybill';
const waybill = await connect('sqlite::memory:');
const send = task('mail.send', { run: () => {} });
for (const id of ['a', 'b']) waybill.work([send], { id });
const types = ['mail.sned', 'mail.sned', 'mail.sned', 'mail.sned'];
await waybill.jobs.enqueueMany(types.map((type) => ({ type, args: [] })));
const over = new AbortController();
let left = types.length;
for await (const _ of waybill.events.follow({ filter: { types: ['job.snoozed'] }, signal: over.signal })) if (--left === 0) break;
over.abort();
await waybill.close();
`;
  const { stderr } = await run(...application(code));
  expect(stderr).toMatch(
    /^\S+Z WARN {2}waybill: Worker [ab] has no task 'mail\.sned'\. Did you mean 'mail\.send'\? Its jobs wait for a worker that has it, .+ See: waybill doctor .+\n$/,
  );
});
