import { rpcRemote } from '@waybill/client/rpc';
import { type FollowedItem, type Lease, WaybillError } from '@waybill/core';
import { describe, expect, onTestFinished, test } from 'vitest';
import { cuttingProxy } from '../testing/cutting-proxy.ts';
import { take } from '../testing/remote-harness.ts';
import { rpcHarness } from '../testing/rpc-harness.ts';

/** The server, a client that speaks to it directly, and one behind a network that breaks. */
async function broken(options: Parameters<typeof rpcRemote>[1] = {}) {
  const server = await rpcHarness();
  const proxy = await cuttingProxy(server.grpcUrl);
  const lines: string[] = [];
  const logger = {
    info: (_: object, line: string) => void lines.push(`info ${line}`),
    warn: (_: object, line: string) => void lines.push(`warn ${line}`),
  };
  const far = rpcRemote(proxy.url, { sleep: async () => {}, logger, ...options });
  onTestFinished(() => far.close());
  return { ...server, proxy, far, lines };
}

/** The same numbers at every run. */
function numbers(seed: number): (most: number) => number {
  let state = seed;
  return (most) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * most);
  };
}

const claim = { queues: ['default'], workerId: 'w1' };
const request = { type: 'test.job', args: [1] };

async function started({ jobs }: { jobs: Awaited<ReturnType<typeof rpcHarness>>['client']['jobs'] }): Promise<Lease> {
  await jobs.enqueue(request);
  const [lease] = await jobs.claim(claim);
  return lease!;
}

describe('a follower whose connections are cut at random', () => {
  test.each([1, 2, 3])('has every entry once, in order, and the end (seed %i)', async (seed) => {
    const { client, far, proxy } = await broken();
    const random = numbers(seed);
    // Now and then, so many that the preface of HTTP/2 does not get through.
    proxy.cutAfter(() => random(3_000));
    const { job, token } = await started(client);
    const signal = new AbortController().signal;
    const said: FollowedItem[] = [];
    const following = (async () => {
      for await (const one of far.jobs.follow(job.id, { signal, lifecycle: true })) said.push(one);
    })();
    for (let first = 1; first <= 400; first += 10) {
      const entries = Array.from({ length: 10 }, (_, n) => ({
        ...{ sequence: first + n, type: 'output', stream: 'stdout' as const },
        output: new TextEncoder().encode(`line ${first + n} ${'x'.repeat(random(60))}\n`),
      }));
      await client.jobs.append({ id: job.id, leaseToken: token, entries });
    }
    await client.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
    await following;
    const sequences = said.flatMap((one) => (one.kind === 'entry' ? [one.entry.sequence] : []));
    expect(sequences).toEqual(Array.from({ length: 400 }, (_, n) => n + 1));
    const lifecycle = said.flatMap((one) => (one.kind === 'event' ? [one.event.type] : []));
    expect(lifecycle).toEqual(['job.enqueued', 'job.started', 'job.completed']);
    expect(proxy.connections()).toBeGreaterThan(3);
  });

  test('has every event of the log once, in order', async () => {
    const { client, far, proxy } = await broken();
    const random = numbers(7);
    proxy.cutAfter(() => 200 + random(2_000));
    const following = take(
      far.events.follow({ filter: { types: ['job.enqueued'] }, signal: new AbortController().signal }),
      100,
    );
    const ids: string[] = [];
    for (let n = 0; n < 100; n += 1) ids.push((await client.jobs.enqueue(request)).job.id);
    expect((await following).map(({ jobId }) => jobId)).toEqual(ids);
    expect(proxy.connections()).toBeGreaterThan(3);
  });
});

test('calls that are cut at random do what they do once', async () => {
  const { client, far, proxy } = await broken();
  const random = numbers(11);
  // Enough for one call, and not always for two.
  proxy.cutAfter(() => 400 + random(4_000));
  for (let n = 1; n <= 30; n += 1) {
    const { job, created } = await far.jobs.enqueue(request);
    expect(created).toBe(true);
    const [lease] = await far.jobs.claim(claim);
    expect(lease!.job.id).toBe(job.id);
    const held = { id: job.id, leaseToken: lease!.token };
    const entries = [1, 2, 3].map((sequence) => ({ sequence, type: 'user.own', data: n }));
    expect(await far.jobs.append({ ...held, entries })).toMatchObject({ run: 1, head: 3 });
    expect((await far.jobs.heartbeat({ workerId: 'w1', jobs: [held] })).lost).toEqual([]);
    await far.jobs.settle({ ...held, outcome: { kind: 'completed', result: n } });
    expect((await client.jobs.journal(job.id)).entries).toHaveLength(3);
  }
  const { items } = await client.jobs.list({ limit: 100 });
  expect(items.map(({ state, run, result }) => [state, run, result])).toEqual(
    Array.from({ length: 30 }, (_, n) => ['completed', 1, 30 - n]),
  );
  expect(proxy.connections()).toBeGreaterThan(3);
});

test('a claim whose answer was lost is asked for again under its id, and answers the same job', async () => {
  const { client, far, proxy } = await broken();
  await far.jobs.list();
  const before = proxy.connections();
  const waiting = far.jobs.claim({ ...claim, waitMs: 20_000 });
  await client.jobs.enqueue(request);
  // Whether the answer was on its way or not, the job is claimed once.
  proxy.cut();
  const [lease] = await waiting;
  expect(lease!.job).toMatchObject({ run: 1, state: 'active' });
  expect(proxy.connections()).toBeGreaterThanOrEqual(before);
  expect(await client.jobs.claim(claim)).toEqual([]);
});

test('an outage is told once, and so is its end; a stream goes on where it was', async () => {
  const { client, far, proxy, lines } = await broken({
    sleep: (ms) => new Promise((done) => setTimeout(done, ms / 20)),
  });
  const stop = new AbortController();
  const stream = far.events.follow({ signal: stop.signal })[Symbol.asyncIterator]();
  const { job } = await client.jobs.enqueue(request);
  expect((await stream.next()).value).toMatchObject({ type: 'job.enqueued', jobId: job.id });
  const next = stream.next();
  proxy.down(true);
  await expect(far.jobs.list()).rejects.toMatchObject({
    ...{ name: 'WaybillError', code: 'unavailable', retryable: true },
    message: expect.stringContaining(proxy.url),
  });
  await client.jobs.cancel(job.id);
  proxy.down(false);
  expect((await next).value).toMatchObject({ type: 'job.cancelled', jobId: job.id });
  expect(lines.map((line) => line.split(' ')[0])).toEqual(['warn', 'info']);
  expect((await far.jobs.list()).items).toHaveLength(1);
  const last = stream.next();
  stop.abort();
  expect(await last).toEqual({ done: true, value: undefined });
});

test('a server that ends ends the streams of its clients, and they wait for the next one', async () => {
  const { client, far, proxy } = await broken();
  const { job, token } = await started(client);
  const signal = new AbortController().signal;
  const live = Promise.withResolvers<void>();
  const following = far.jobs.follow(job.id, { signal, onLive: live.resolve })[Symbol.asyncIterator]();
  const first = following.next();
  await live.promise;
  proxy.cut();
  const entries = [{ sequence: 1, type: 'user.own', data: 'after' }];
  await client.jobs.append({ id: job.id, leaseToken: token, entries });
  expect((await first).value).toMatchObject({ kind: 'entry', entry: { data: 'after' } });
  await far.close();
  expect(await following.next()).toEqual({ done: true, value: undefined });
});

test('a key that the server does not know is refused, also when the health is asked for', async () => {
  const refuse = () => {
    throw new WaybillError('unauthenticated', 'This key is not known.');
  };
  const { grpcUrl } = await rpcHarness({ principal: refuse });
  const client = rpcRemote(grpcUrl, { key: 'wb_wrong', sleep: async () => {} });
  onTestFinished(() => client.close());
  const refused = { code: 'unauthenticated', message: expect.any(String), hint: expect.any(String) };
  await expect(client.jobs.list()).rejects.toMatchObject(refused);
  await expect(client.health()).rejects.toMatchObject(refused);
  await expect(take(client.events.follow({ signal: new AbortController().signal }), 1)).rejects.toMatchObject(refused);
});

test('the health is that of the store', async () => {
  const { client } = await rpcHarness();
  expect(await client.health()).toMatchObject({ status: 'ok', store: { status: 'ok' } });
});

test('a message that is too large for the server is refused, and a journal is sent in parts', async () => {
  const { client } = await rpcHarness({ maxBodyBytes: 64 * 1_024 });
  await expect(client.jobs.enqueue({ type: 'test.job', args: ['x'.repeat(100_000)] })).rejects.toMatchObject({
    code: 'payload_too_large',
  });
  const { job, token } = await started(client);
  const entries = Array.from({ length: 20 }, (_, n) => ({
    ...{ sequence: n + 1, type: 'output', output: new Uint8Array(10_000).fill(n) },
  }));
  const held = { id: job.id, leaseToken: token };
  expect(await client.jobs.append({ ...held, entries })).toEqual({ run: 1, stored: 20, head: 20, cut: 0 });
  expect((await client.jobs.journal(job.id)).entries.map(({ output }) => output)).toEqual(
    entries.map(({ output }) => output),
  );
});
