import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ConsumerWorld, type Env, PollWorld, SqsWorld } from './testing/consumer-world.ts';
import { MessageQueue } from './testing/message-queue.ts';

const MESSAGE = { requestId: 'request-1', body: { taskId: 'request-1', jobId: 'job-1', name: 'Summarise', input: {} } };
const COMPLETED = { kind: 'completed', result: 'done' } as const;
const failed = (code: string) => ({ kind: 'failed', error: { code, message: `It was ${code}.` } }) as const;

/** An hour is beyond every pause before a retry, and beyond every time for which a message is hidden. */
const HOUR_MS = 3_600_000;
const EXTENSION_MS = 20_000;

beforeAll(() => {
  // SQS goes by it.
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterAll(() => {
  vi.useRealTimers();
});

let server: MessageQueue;
beforeAll(async () => {
  server = await MessageQueue.start();
});
afterAll(() => server.stop());

const WORLDS: [string, (env: Env) => Promise<ConsumerWorld>][] = [
  ['SQS', (env) => SqsWorld.open(new MessageQueue(server.server), env)],
  ['poll', async (env) => new PollWorld(env)],
];

describe.each(WORLDS)('a message over %s', (_, open) => {
  let world: ConsumerWorld;
  beforeEach(async () => {
    world = await open({});
  });

  it('that comes for the first time is run, and goes when it is done', async () => {
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    expect(lease!.job).toMatchObject({ type: 'agent.task', run: 1, attempt: 1, maxAttempts: 3, timeoutMs: 200_000 });
    expect(lease!.job.spec.args).toEqual([{ requestId: 'request-1', ...MESSAGE.body, dependencyOutputs: {} }]);
    expect(await world.settle(lease!, COMPLETED)).toMatchObject({ state: 'completed' });
    await world.pass(HOUR_MS);
    expect([await world.claim('a'), world.messages]).toEqual([[], 0]);
  });

  it('that comes again after its job has completed is not run again, and goes', async () => {
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    await world.settle(lease!, COMPLETED);
    await world.deliver(MESSAGE);
    expect([await world.claim('b'), world.messages]).toEqual([[], 0]);
    await world.pass(HOUR_MS);
    expect(await world.claim('b')).toEqual([]);
    expect(await world.jobs()).toMatchObject([{ state: 'completed', run: 1 }]);
  });

  it('that comes again while another worker holds its lease is left to that worker', async () => {
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    await world.deliver(MESSAGE);
    expect(await world.claim('b')).toEqual([]);
    expect(await world.settle(lease!, COMPLETED)).toMatchObject({ state: 'completed', run: 1 });
    expect(world.messages).toBe(0);
  });

  it('is left to the worker that extends its lease, after sixty heartbeats and as many copies too', async () => {
    world = await open({ CLAUDE_TIMEOUT: '3600000' });
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    for (let extension = 0; extension < 60; extension += 1) {
      await world.pass(EXTENSION_MS);
      expect(await world.heartbeat(lease!, 'a')).toBe(true);
      await world.deliver(MESSAGE);
      expect(await world.claim('b')).toEqual([]);
    }
    expect(await world.settle(lease!, COMPLETED)).toMatchObject({ state: 'completed', run: 1 });
    expect(world.messages).toBe(0);
  });

  it('that two workers take at the same moment is run by one of them', async () => {
    await Promise.all([world.deliver(MESSAGE), world.deliver(MESSAGE)]);
    const claimed = (await Promise.all([world.claim('a'), world.claim('b'), world.claim('c')])).flat();
    expect(claimed).toHaveLength(1);
    expect(await world.jobs()).toHaveLength(1);
  });

  it('whose worker fell silent is run again when the lease has ended, not before, and the old run is over', async () => {
    await world.deliver(MESSAGE);
    const [silent] = await world.claim('a');
    await world.pass(world.leaseMs - 1_000);
    expect(await world.claim('b')).toEqual([]);
    await world.pass(3_000);
    const [again] = await world.claim('b');
    expect(again!.job).toMatchObject({ run: 2, attempt: 2 });
    await expect(world.settle(silent!, COMPLETED)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(await world.heartbeat(silent!, 'a')).toBe(false);
    expect(await world.settle(again!, COMPLETED)).toMatchObject({ state: 'completed' });
    await world.pass(HOUR_MS);
    expect([await world.claim('b'), world.messages]).toEqual([[], 0]);
  });

  it('whose run has failed with attempts left is tried again when its pause is over, and a copy changes nothing', async () => {
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    expect(await world.settle(lease!, failed('network'))).toMatchObject({ state: 'retryable', attempt: 1 });
    await world.deliver(MESSAGE);
    expect(await world.claim('b')).toEqual([]);
    await world.pass(5_000);
    const [again] = await world.claim('b');
    expect(again!.job).toMatchObject({ run: 2, attempt: 2 });
    await world.settle(again!, COMPLETED);
    await world.pass(HOUR_MS);
    expect([await world.claim('b'), world.messages]).toEqual([[], 0]);
  });

  it('whose runs have failed three times is a dead letter, and a copy of it goes', async () => {
    await world.deliver(MESSAGE);
    for (const attempt of [1, 2, 3]) {
      const [lease] = await world.claim('a');
      expect(lease!.job.attempt).toBe(attempt);
      await world.settle(lease!, failed('network'));
      await world.pass(10_000);
    }
    // Who looks into it finds the request and its job.
    const args = [{ requestId: 'request-1', jobId: 'job-1' }];
    expect(await world.jobs()).toMatchObject([{ state: 'discarded', dead: true, attempt: 3, spec: { args } }]);
    await world.deliver(MESSAGE);
    await world.pass(HOUR_MS);
    expect([await world.claim('a'), world.messages]).toEqual([[], 0]);
    const types = ['job.discarded' as const];
    expect((await world.waybill.events.read({ filter: { types } })).events).toHaveLength(1);
  });

  it('whose worker was killed in each of three runs is a dead letter too', async () => {
    await world.deliver(MESSAGE);
    for (const run of [1, 2, 3]) {
      expect(await world.claim(`worker-${run}`)).toMatchObject([{ job: { run, attempt: run } }]);
      await world.pass(world.leaseMs + 2_000);
    }
    expect(await world.claim('d')).toEqual([]);
    expect(await world.jobs()).toMatchObject([{ state: 'discarded', dead: true, outcome: 'lost' }]);
    expect(world.messages).toBe(0);
  });

  it('whose run took longer than CLAUDE_TIMEOUT has failed for good', async () => {
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    for (let extension = 0; extension < 10; extension += 1) {
      await world.pass(EXTENSION_MS);
      await world.heartbeat(lease!, 'a');
    }
    await world.pass(2_000);
    expect(await world.jobs()).toMatchObject([{ state: 'discarded', dead: true, attempt: 1, outcome: 'timed_out' }]);
    await world.pass(HOUR_MS);
    expect(await world.claim('b')).toEqual([]);
  });

  it('whose worker says that it ended the run for its time has failed for good, too', async () => {
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    expect(await world.settle(lease!, failed('timeout'))).toMatchObject({ state: 'discarded', attempt: 1 });
  });

  it('whose agent ran out of time inside of a run is tried again', async () => {
    await world.deliver(MESSAGE);
    const [lease] = await world.claim('a');
    expect(await world.settle(lease!, failed('agent_timeout'))).toMatchObject({ state: 'retryable', attempt: 1 });
  });

  it('that repeats the request of another job is a job of its own', async () => {
    const other = { ...MESSAGE, body: { ...MESSAGE.body, jobId: 'job-2' } };
    const { jobId: _, ...alone } = MESSAGE.body;
    for (const message of [MESSAGE, other, { ...MESSAGE, body: alone }, other]) await world.deliver(message);
    const leases = [...(await world.claim('a')), ...(await world.claim('b')), ...(await world.claim('c'))];
    expect(new Set(leases.map(({ job }) => job.id)).size).toBe(3);
    const ids = leases.map(({ job }) => (job.spec.args[0] as { jobId?: string }).jobId);
    expect(ids.sort()).toEqual(['job-1', 'job-2', undefined]);
  });
});
