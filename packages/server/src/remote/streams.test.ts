import { remote } from '@waybill/client/http';
import { engine, type LoggedEvent } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../app.ts';
import { serve } from '../serve.ts';
import { remoteHarness, take } from '../testing/remote-harness.ts';

const JOB = { type: 'test.job', args: [] };
const PRUNED_WITHIN_MS = 600_000;
const endless = () => new AbortController().signal;
const ids = (events: readonly LoggedEvent[]) => events.map(({ jobId }) => jobId);

/** Lets so many bytes of a stream through, then breaks or ends it. */
function cutAfter(response: Response, bytes: number, how: 'break' | 'end'): Response {
  const reader = response.body!.getReader();
  let left = bytes;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) return controller.close();
      const piece = value.subarray(0, left);
      left -= piece.byteLength;
      if (piece.byteLength > 0) controller.enqueue(piece);
      if (left > 0) return;
      await reader.cancel();
      if (how === 'end') controller.close();
      else controller.error(new TypeError('terminated'));
    },
    cancel: () => reader.cancel(),
  });
  return new Response(body, response);
}

test.each(['break', 'end'] as const)('a stream that is cut anywhere (%s) has no gap and no duplicate', async (how) => {
  const { app, waybill } = remoteHarness();
  const written = ids(await stored(waybill, 12));
  let connections = 0;
  const seen: (string | null)[] = [];
  // Every length from nothing to more than one message, so that the cut falls into each part of one.
  const client = remote('http://waybill.test', {
    sleep: async () => {},
    fetch: async (url, init) => {
      connections += 1;
      seen.push(new Headers(init.headers).get('last-event-id'));
      const response = await app.request(url, init);
      return connections % 5 === 0
        ? Promise.reject(new TypeError('refused'))
        : cutAfter(response, connections * 37, how);
    },
  });
  onTestFinished(() => client.close());
  const reading = take(client.events.follow({ signal: endless() }), 15);
  const live = ids(await stored(waybill, 3));
  expect(ids(await reading)).toEqual([...written, ...live]);
  expect(connections).toBeGreaterThan(5);
  expect([seen[0], typeof seen.at(-1)]).toEqual([null, 'string']);
});

test('a follower is told, before it goes on, that events were pruned behind its cursor', async () => {
  const { client, clock } = remoteHarness();
  const after = await client.events.end();
  await client.jobs.enqueue(JOB);
  clock.jump(8 * 86_400_000);
  await clock.advance(PRUNED_WITHIN_MS);
  const { job } = await client.jobs.enqueue(JOB);
  const told: string[] = [];
  const onMissed = () => told.push('missed');
  for (const { jobId } of await take(client.events.follow({ after, signal: endless(), onMissed }), 1))
    told.push(jobId!);
  expect(told).toEqual(['missed', job.id]);
});

async function stored(waybill: ReturnType<typeof remoteHarness>['waybill'], count: number): Promise<LoggedEvent[]> {
  const after = await waybill.events.end();
  for (let n = 0; n < count; n += 1) await waybill.jobs.enqueue(JOB);
  return (await waybill.events.read({ after, limit: 100 })).events;
}

test('reconnecting backs off, and starts over after an event', async () => {
  const { app, waybill } = remoteHarness();
  await stored(waybill, 2);
  const waits: number[] = [];
  let connections = 0;
  const client = remote('http://waybill.test', {
    sleep: async (ms) => void waits.push(ms),
    fetch: async (url, init) => {
      connections += 1;
      if (connections <= 6 || (connections > 7 && connections < 10)) throw new TypeError('refused');
      const response = await app.request(url, init);
      // One message behind the opening comment, and not the second one.
      return connections === 7 ? cutAfter(response, 500, 'end') : response;
    },
  });
  onTestFinished(() => client.close());
  await take(client.events.follow({ signal: endless() }), 2);
  expect(waits).toHaveLength(9);
  const least = [100, 200, 400, 800, 1_600, 2_500, 100, 200, 400];
  for (const [index, ms] of waits.entries()) {
    expect(ms).toBeGreaterThanOrEqual(least[index]!);
    expect(ms).toBeLessThanOrEqual(least[index]! * 2);
  }
});

test('a stream that is refused for good says why', async () => {
  const { client, sent } = remoteHarness();
  const reading = take(client.events.follow({ after: 'nonsense', signal: endless() }), 1);
  await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
  expect(sent).toHaveLength(1);
});

test('a follower ends when it is aborted and when the client closes, and leaves nothing running', async () => {
  const { client, clock } = remoteHarness({ maintenance: false });
  const gone = new AbortController();
  const aborted = take(client.events.follow({ signal: gone.signal }), 1);
  const closed = take(client.events.follow({ signal: endless() }), 1);
  await clock.whenSleeping(1);
  gone.abort();
  expect(await aborted).toEqual([]);
  await client.close();
  expect(await closed).toEqual([]);
  await expect.poll(() => clock.sleepers).toBe(0);
  expect(await take(client.events.follow({ signal: endless() }), 1)).toEqual([]);
  await expect(client.queues.list()).rejects.toMatchObject({ code: 'unavailable' });
  await client.close();
});

test('a waiting claim is ended by its signal; what was granted meanwhile is answered', async () => {
  const { client, waybill, clock, sent } = remoteHarness({ maintenance: false });
  const gone = new AbortController();
  const claiming = client.jobs.claim({ queues: ['default'], waitMs: 120_000, signal: gone.signal });
  await clock.whenSleeping();
  gone.abort();
  expect(await claiming).toEqual([]);
  expect(sent).toEqual(['POST /workers/fetch', 'POST /workers/fetch']);
  const claim = waybill.jobs.claim;
  const late = new AbortController();
  // The job is granted, and the caller hangs up before it hears of it.
  waybill.jobs.claim = async (call) => {
    const leases = await claim(call);
    if (leases.length > 0 && call.waitMs) {
      late.abort();
      await Promise.reject(new Error('The answer is lost.'));
    }
    return leases;
  };
  await waybill.jobs.enqueue(JOB);
  const leases = await client.jobs.claim({ queues: ['default'], waitMs: 1_000, signal: late.signal });
  expect(leases.map(({ job }) => [job.state, job.run])).toEqual([['active', 1]]);
});

test('closing waits for a call under way', async () => {
  const { client, waybill } = remoteHarness();
  const { enqueue } = waybill.jobs;
  let go = () => {};
  const asked = new Promise<void>((told) => {
    waybill.jobs.enqueue = async (...call) => {
      told();
      await new Promise<void>((resolve) => {
        go = resolve;
      });
      return enqueue(...call);
    };
  });
  const order: string[] = [];
  const enqueuing = client.jobs.enqueue(JOB).then(() => order.push('enqueued'));
  await asked;
  const closing = client.close().then(() => order.push('closed'));
  go();
  await Promise.all([enqueuing, closing]);
  expect(order).toEqual(['enqueued', 'closed']);
});

test('over a socket: a worker, a stream and a server that restarts', async () => {
  const waybill = engine({ store: memoryStore() });
  const app = createApp({ waybill, version: 'test' });
  let server = await serve(app, { port: 0 });
  const port = Number(new URL(server.url).port);
  const client = remote(server.url);
  onTestFinished(async () => {
    await client.close();
    await server.close();
    await waybill.close();
  });
  const stream = client.events.follow({ signal: endless() })[Symbol.asyncIterator]();
  const types: string[] = [];
  const next = async () => types.push((await stream.next()).value.type);

  const claiming = client.jobs.claim({ queues: ['default'], waitMs: 30_000 });
  const { job } = await client.jobs.enqueue(JOB);
  await next();
  const [lease] = await claiming;
  await next();
  expect(lease?.job.id).toBe(job.id);

  const waiting = next();
  await server.close();
  server = await serve(app, { port });
  await client.jobs.settle({ id: job.id, leaseToken: lease!.token, outcome: { kind: 'completed', result: [1] } });
  await waiting;
  expect(types).toEqual(['job.enqueued', 'job.started', 'job.completed']);
  expect((await client.jobs.get(job.id)).result).toEqual([1]);
});
