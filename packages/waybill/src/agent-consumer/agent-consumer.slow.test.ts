import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { Consumer, taskModule } from './testing/consumer-process.ts';

const MESSAGE = { requestId: 'request-1', body: { taskId: 'request-1', jobId: 'job-1', name: 'Sum', input: { n: 2 } } };

test('works on the messages of the queue with nothing but its environment, and marks output by their request', async () => {
  const consumer = await Consumer.open();
  const run = `(message) => {
    console.log('one', 'two');
    return { message, model: process.env.CLAUDE_MODEL, node: process.env.NODE_ENV, home: process.env.HOME, key: process.env.AWS_ACCESS_KEY_ID };
  }`;
  const worker = await consumer.start(taskModule(consumer.folder, run), { TENANT_ID: undefined, NODE_ENV: '' });
  await consumer.queue.send(MESSAGE);
  const { result, type, timeoutMs } = await consumer.told('job.completed');
  expect({ type, timeoutMs }).toEqual({ type: 'own.task', timeoutMs: 200_000 });
  expect(result).toMatchObject({
    message: { requestId: 'request-1', ...MESSAGE.body, dependencyOutputs: {} },
    ...{ model: 'claude-opus-4-5', node: 'dev', key: 'local' },
  });
  expect((result as { home: string }).home).not.toBe(process.env['HOME']);
  await worker.printed(/INFO {2}\[WORKFLOW:request-1\] one two\n/);
  expect(await worker.end('SIGTERM')).toBe(0);
  expect(consumer.queue.messages).toEqual({ visible: 0, held: 0 });
});

test.each([
  ['a body that is no JSON', { requestId: 'r-1', body: 'no json' }, "'input' must be an object"],
  ['no request id', { body: MESSAGE.body }, "'input.requestId' must be 1 to 256 letters"],
  ['a request id of other letters', { ...MESSAGE, requestId: 'a/b' }, "'input.requestId' must be 1 to 256 letters"],
  ['a request id that is too long', { ...MESSAGE, requestId: 'a'.repeat(257) }, "'input.requestId' must be 1 to 256"],
  ['no task', { requestId: 'r-1', body: { input: {} } }, "'input.taskId' must be 1 to 256 letters"],
] as const)('a message with %s is a job that has failed for good, and goes', async (_, message, rule) => {
  const consumer = await Consumer.open();
  const worker = await consumer.start(taskModule(consumer.folder, '() => "ran"'));
  await consumer.queue.send(message);
  const job = await consumer.told('job.discarded');
  expect(job).toMatchObject({ state: 'discarded', dead: true, attempt: 1, errors: [{ code: 'invalid_payload' }] });
  expect(job.errors[0]!.message).toContain(rule);
  const { events } = await (await consumer.waybill()).events.read({ filter: { types: ['job.failed'] } });
  expect(events).toMatchObject([{ data: { error: { code: 'invalid_payload', retryable: false } } }]);
  expect(await worker.end('SIGTERM')).toBe(0);
  expect(consumer.queue.messages).toEqual({ visible: 0, held: 0 });
  expect(await consumer.jobs()).toHaveLength(1);
});

test('the jobs of TENANT_ID are its own', async () => {
  const consumer = await Consumer.open();
  await consumer.start(taskModule(consumer.folder, '() => "ran"'), { TENANT_ID: 'acme' });
  await consumer.queue.send(MESSAGE);
  expect(await consumer.told('job.completed', 'acme')).toMatchObject({ tenant: 'acme', result: 'ran' });
});

/** Deaf to everything but SIGKILL, and it says when it has begun. */
const DEAF = `() => {
  process.on('SIGTERM', () => {});
  console.log('begun as ' + process.pid);
  return new Promise(() => setInterval(() => {}, 1_000));
}`;

test('SIGTERM: what still runs is ended and handed back within four seconds', async () => {
  const consumer = await Consumer.open();
  const worker = await consumer.start(taskModule(consumer.folder, DEAF));
  await consumer.queue.send(MESSAGE);
  await worker.printed(/begun as \d+/);
  const [askedAt] = [Date.now(), process.kill(worker.pid, 'SIGTERM')];
  expect(await worker.ended()).toBe(0);
  const { events } = await (await consumer.waybill()).events.read({ filter: { types: ['job.requeued'] } });
  expect(events.map(({ at }) => at - askedAt < 4_000)).toEqual([true]);
  expect(await consumer.jobs()).toMatchObject([{ state: 'available', attempt: 0, run: 1 }]);
  const pid = Number(/begun as (\d+)/.exec(worker.output)![1]);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
});

test('a run that takes longer than CLAUDE_TIMEOUT is killed, its job has failed for good, and its message goes', async () => {
  const consumer = await Consumer.open();
  // So that a message which is left comes again soon.
  const visibility = {
    VISIBILITY_TIMEOUT: '6',
    VISIBILITY_EXTENSION_AMOUNT: '6',
    VISIBILITY_EXTENSION_INTERVAL: '2000',
  };
  const worker = await consumer.start(taskModule(consumer.folder, DEAF), { CLAUDE_TIMEOUT: '10000', ...visibility });
  await consumer.queue.send(MESSAGE);
  await worker.printed(/begun as \d+/);
  const job = await consumer.told('job.discarded');
  expect(job).toMatchObject({ state: 'discarded', dead: true, attempt: 1, run: 1, errors: [{ code: 'timeout' }] });
  await expect.poll(() => consumer.queue.messages, { timeout: 30_000 }).toEqual({ visible: 0, held: 0 });
  expect(await worker.end('SIGTERM')).toBe(0);
  const pid = Number(/begun as (\d+)/.exec(worker.output)![1]);
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  expect(await consumer.jobs()).toMatchObject([{ state: 'discarded', run: 1 }]);
});

test.each([
  ['an error that nothing has caught', "setTimeout(() => { throw new Error('left alone'); }, 10)"],
  ['a rejection that nobody handles', "setTimeout(() => void Promise.reject(new Error('left alone')), 10)"],
])('%s ends the worker with 1, after it has handed back its runs', async (_, fault) => {
  const consumer = await Consumer.open();
  // Only in the process of the worker, where the run has begun.
  const before = `if (process.env.WAYBILL_RUN === undefined) {
    const info = setInterval(() => {
      if (globalThis.begun) { clearInterval(info); ${fault}; }
    }, 10);
    const write = process.stderr.write.bind(process.stderr);
    process.stderr.write = (text, ...more) => { if (String(text).includes('begun as')) globalThis.begun = true; return write(text, ...more); };
  }`;
  const worker = await consumer.start(taskModule(consumer.folder, DEAF, before));
  await consumer.queue.send(MESSAGE);
  expect(await worker.ended()).toBe(1);
  expect(worker.output).toContain('An error that nothing has caught ends the worker.');
  expect(worker.output).toContain('left alone');
  expect(await consumer.jobs()).toMatchObject([{ state: 'available', attempt: 0, run: 1 }]);
});

test('--env-file: its variables stand behind the environment, also for the process of a run', async () => {
  const consumer = await Consumer.open();
  const file = path.join(consumer.folder, 'agents.env');
  writeFileSync(file, `# what the worker needs\nCLAUDE_MODEL="from file"\nS3_BUCKET='a-bucket'\nNODE_ENV=from-file\n`);
  const run = '() => [process.env.CLAUDE_MODEL, process.env.S3_BUCKET, process.env.NODE_ENV]';
  const env = { NODE_ENV: 'production', WAYBILL_BLOBS: `file:${consumer.folder}/blobs` };
  await consumer.start(taskModule(consumer.folder, run), env, '--env-file', file);
  await consumer.queue.send(MESSAGE);
  expect((await consumer.told('job.completed')).result).toEqual(['from file', 'a-bucket', 'production']);
});
