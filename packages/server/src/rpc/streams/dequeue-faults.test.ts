import { Code, ConnectError } from '@connectrpc/connect';
import { TestClock } from '@waybill/core/testing';
import { expect, test, vi } from 'vitest';
import { LOOK_AGAIN_EVERY_MS } from '../../auth/standing.ts';
import { harness } from '../../testing/harness.ts';
import { grpcClients } from '../../testing/rpc-clients.ts';
import { streamCall } from '../../testing/rpc-wire.ts';
import { socketServer } from '../../testing/socket-server.ts';

const JOB = { type: 'x', args: [] };
const DEQUEUE = '/waybill.v1.JobService/DequeueJobs';

/** Lets time pass until this has happened. */
async function passing<T>(clock: TestClock, until: Promise<T>): Promise<T> {
  let isOver = false;
  const over = until.finally(() => {
    isOver = true;
  });
  for (let turns = 0; !isOver && turns < 200; turns += 1) {
    await clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (!isOver) throw new Error('What the test waits for did not happen.');
  return over;
}

test.each([20, 300])('a queue that keeps nothing is worked off by a stream of %i s visibility', async (seconds) => {
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 });
  const { jobs } = grpcClients(grpcUrl!);
  await waybill.queues.setKeep('default', 'none');
  await waybill.jobs.enqueueMany(Array.from({ length: 20 }, () => JOB));
  const given = jobs.dequeueJobs({ queue: 'default', visibilityTimeoutSeconds: seconds })[Symbol.asyncIterator]();
  for (let count = 0; count < 20; count += 1) {
    const { value } = await given.next();
    await jobs.completeJob({ taskToken: value!.taskToken, result: { success: true } });
  }
});

test('a job of a queue that keeps nothing makes room also where another server has completed it', async () => {
  const { app, waybill, clock } = harness();
  await waybill.queues.setKeep('default', 'none');
  const [first, second] = await waybill.jobs.enqueueMany([JOB, JOB]);
  const answer = await app.request(DEQUEUE, streamCall({ queue: 'default', visibilityTimeoutSeconds: 20 }));
  const reader = answer.body!.getReader();
  await reader.read();
  const next = reader.read();
  const { run, workerId } = await waybill.jobs.get(first!.id);
  expect(run).toBe(1);
  await waybill.jobs.settle({ id: first!.id, workerId: workerId!, outcome: { kind: 'completed', result: null } });
  await passing(clock, next);
  expect(await waybill.jobs.get(second!.id)).toMatchObject({ state: 'active' });
  await reader.cancel();
});

// fault: a client cancels its stream, or loses its connection, while the claim of the stream is under way
test.each(['cancels its stream', 'loses its connection'])(
  'guarantee 13: the jobs of a gRPC client that %s before it has them are taken back at once',
  async (how) => {
    const { grpcUrl, waybill, noticed } = await socketServer({ grpcPort: 0 });
    const client = grpcClients(grpcUrl!);
    await waybill.jobs.enqueueMany([JOB, JOB, JOB]);
    const { claim } = waybill.jobs;
    const [asked, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    waybill.jobs.claim = async (call) => {
      asked.resolve();
      await goOn.promise;
      return claim({ queues: call.queues, count: 3 });
    };
    const isGone = noticed(DEQUEUE);
    const leaving = new AbortController();
    const stream = client.jobs.dequeueJobs({ queue: 'default', maxJobs: 3 }, { signal: leaving.signal });
    const refused = expect(stream[Symbol.asyncIterator]().next()).rejects.toThrow();
    await asked.promise;
    if (how === 'cancels its stream') leaving.abort();
    else client.abort();
    await Promise.all([refused, isGone]);
    waybill.jobs.claim = claim;
    goOn.resolve();
    for (let taken = 0; taken < 3; ) {
      const leases = await claim({ queues: ['default'], count: 3, waitMs: 30_000 });
      expect(leases.map(({ job: { run, attempt } }) => [run, attempt])).toEqual(leases.map(() => [2, 1]));
      taken += leases.length;
    }
  },
);

// fault: the store fails one read of the log, and one heartbeat
test('guarantee 2: a stream lives through a store that fails: its jobs stay held, and the next one comes', async () => {
  const { app, waybill, clock } = harness();
  const { heartbeat } = waybill.jobs;
  const { follow } = waybill.events;
  const away = () => Promise.reject(new Error('the store is away'));
  const failing = vi.fn(away);
  waybill.events.follow = async function* () {
    waybill.events.follow = follow;
    yield* [];
    await failing();
  };
  waybill.jobs.heartbeat = () => {
    waybill.jobs.heartbeat = heartbeat;
    return failing();
  };
  const [first, second] = await waybill.jobs.enqueueMany([JOB, JOB]);
  const answer = await app.request(DEQUEUE, streamCall({ queue: 'default' }));
  const reader = answer.body!.getReader();
  await reader.read();
  const next = reader.read();
  for (let passed = 0; passed < 6; passed += 1) await clock.advance(10_000);
  expect(failing).toHaveBeenCalledTimes(2);
  expect(await waybill.jobs.get(first!.id)).toMatchObject({ state: 'active', run: 1 });
  await waybill.jobs.cancel(first!.id);
  await passing(clock, next);
  expect(await waybill.jobs.get(second!.id)).toMatchObject({ state: 'active' });
  await reader.cancel();
});

test('a stream of events that a run publishes ends soon after its key was revoked', async () => {
  const clock = new TestClock();
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 }, { auth: {}, clock });
  const { key, secret } = await waybill.keys!.create({ name: 'ada', scopes: ['work', 'enqueue'] });
  const { jobs, events } = grpcClients(grpcUrl!, { 'x-api-key': secret });
  await jobs.enqueueJob({ type: 'x', args: { values: [] } });
  const [given] = [await jobs.dequeueJobs({ queue: 'default', maxJobs: 1 })[Symbol.asyncIterator]().next()];
  const { taskToken } = given.value!;
  const revoked = Promise.withResolvers<void>();
  const message = {
    taskToken,
    events: [
      { sequence: 1n, type: 'step', payload: { case: 'data', value: { kind: { case: 'boolValue', value: true } } } },
    ],
  };
  const heard: unknown[] = [];
  const over = (async () => {
    async function* sent() {
      yield message;
      await revoked.promise;
    }
    for await (const answer of events.publishEvents(sent() as never)) {
      heard.push(answer);
      await waybill.keys!.revoke(key.id);
      await clock.advance(5_000 + 2 * LOOK_AGAIN_EVERY_MS);
    }
  })();
  await expect(over).rejects.toSatisfy((error) => ConnectError.from(error).code === Code.Unauthenticated);
  expect(heard).toHaveLength(1);
  revoked.resolve();
});

test('wants a lease token for appended events where the server does', async () => {
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 }, { requireLease: true });
  const { events, workers } = grpcClients(grpcUrl!);
  const { job } = await waybill.jobs.enqueue(JOB);
  await workers.claim({ queues: ['default'], workerId: 'w1' });
  const call = events.appendEvents({ jobId: job.id, workerId: 'w1', events: [{ sequence: 1n }] });
  await expect(call).rejects.toSatisfy((error) => ConnectError.from(error).code === Code.InvalidArgument);
  await expect(call).rejects.toThrow('lease_token');
  expect((await waybill.jobs.journal(job.id)).entries).toEqual([]);
});
