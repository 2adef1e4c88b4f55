import type { Waybill } from '@waybill/core';
import { describe, expect, test } from 'vitest';
import type { ConnectionLimits } from '../http/limits.ts';
import { RawClient, rawRequest } from '../testing/raw-client.ts';
import { type SocketServer, socketServer } from '../testing/socket-server.ts';

const FETCH = '/ojs/v1/workers/fetch';
const HOUR_MS = 3_600_000;

/** Together more than the buffers of two sockets hold, so that an answer with all of them stops half-way. */
const MANY = 16;
const LARGE = 'x'.repeat(900_000);

const claimOf = (more: object) =>
  rawRequest('POST', FETCH, { queues: ['q'], count: MANY, visibility_timeout_ms: HOUR_MS, ...more });

const fill = (waybill: Waybill, count: number, arg = '') =>
  waybill.jobs.enqueueMany(
    Array.from({ length: count }, () => ({ type: 'a.b', args: [arg], options: { queue: 'q' } })),
  );

/** Holds the claims of a server until they may go on, as a slow store would. */
function held({ waybill }: SocketServer) {
  const { claim } = waybill.jobs;
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  waybill.jobs.claim = async (call) => {
    asked.resolve();
    await goOn.promise;
    return claim({ ...call, waitMs: 0 });
  };
  const release = () => {
    waybill.jobs.claim = claim;
    goOn.resolve();
  };
  return { asked: asked.promise, release };
}

interface Leaving {
  jobs: number;
  arg?: string;
  limits?: ConnectionLimits;
  /** From the request to the moment when the server knows that the client is gone. */
  leave(server: SocketServer, client: RawClient, request: string): Promise<void>;
}

const LEAVINGS: Record<string, Leaving> = {
  'hangs up while its claim is under way': {
    jobs: 3,
    leave: async (server, client, request) => {
      const noticed = server.noticed(FETCH);
      const claim = held(server);
      client.send(request);
      await claim.asked;
      client.socket.destroy();
      await noticed;
      claim.release();
    },
  },
  'resets the connection while its claim is under way': {
    jobs: 3,
    leave: async (server, client, request) => {
      const noticed = server.noticed(FETCH);
      const claim = held(server);
      client.send(request);
      await claim.asked;
      client.socket.resetAndDestroy();
      await noticed;
      claim.release();
    },
  },
  'half-closes while its claim is under way': {
    jobs: 3,
    leave: async (server, client, request) => {
      const noticed = server.noticed(FETCH);
      const claim = held(server);
      client.socket.end(request);
      await claim.asked;
      await noticed;
      claim.release();
    },
  },
  'leaves in the midst of the answer': {
    jobs: MANY,
    arg: LARGE,
    leave: async (server, client, request) => {
      const noticed = server.noticed(FETCH);
      client.send(request);
      await client.until(/ 200 /);
      client.socket.destroy();
      await noticed;
    },
  },
  'reads nothing of the answer': {
    jobs: MANY,
    arg: LARGE,
    limits: { stalledTimeoutMs: 500 },
    leave: async (server, client, request) => {
      const noticed = server.noticed(FETCH);
      client.socket.pause();
      client.send(request);
      await noticed;
    },
  },
};

const KINDS: Record<string, object> = {
  'a fetch': {},
  'a fetch with a claim id': { claim_id: 'claim-0001' },
  'a long poll': { wait_ms: 30_000 },
  'a long poll with a claim id': { wait_ms: 30_000, claim_id: 'claim-0001' },
};

describe.each(Object.entries(KINDS))('HTTP: %s', (_kind, more) => {
  // fault: the client of a claim leaves before its answer has come, or in the midst of it
  test.each(Object.entries(LEAVINGS))(
    'guarantee 13: of a client that %s is taken back at once',
    async (_name, { jobs, arg, limits, leave }) => {
      const server = await socketServer(limits);
      const { url, waybill } = server;
      await fill(waybill, jobs, arg);
      const after = await waybill.events.end();
      await leave(server, await RawClient.connect(url), claimOf(more));
      const signal = AbortSignal.timeout(60_000);
      const ids = new Set<string>();
      for await (const event of waybill.events.follow({ after, filter: { types: ['job.requeued'] }, signal })) {
        expect(event.data).toMatchObject({ reason: expect.stringContaining('did not reach') });
        if (ids.add(event.jobId!).size === jobs) break;
      }
      const { items } = await waybill.jobs.list({ limit: 1_000 });
      expect(new Set(items.map(({ state, attempt }) => `${state} ${attempt}`))).toEqual(new Set(['available 0']));
      expect(await waybill.jobs.claim({ queues: ['q'], count: MANY })).toHaveLength(jobs);
    },
  );
});

test('HTTP: a repetition that comes while its jobs are given back is answered no lease that ends', async () => {
  const server = await socketServer();
  const { url, waybill } = server;
  await fill(waybill, 2);
  const { settle } = waybill.jobs;
  const given: Promise<unknown>[] = [];
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  waybill.jobs.settle = async (call) => {
    asked.resolve();
    await goOn.promise;
    const settled = settle(call);
    given.push(settled);
    return settled;
  };
  const request = claimOf({ claim_id: 'claim-0001' });
  await LEAVINGS['hangs up while its claim is under way']!.leave(server, await RawClient.connect(url), request);
  await asked.promise;
  const again = await RawClient.connect(url);
  again.send(request);
  // The server has looked at the repetition when it has answered what came later.
  for (let later = 0; later < 3; later += 1) await fetch(`${url}/ready`);
  goOn.resolve();
  await again.until(/"job":/);
  await Promise.all(given);
  const { items } = await waybill.jobs.list({ limit: 10, filter: { states: ['active'] } });
  const answered = [...again.received.matchAll(/"lease_token":/g)];
  // Only the first job is repeated, as `job`.
  expect(answered.length).toBe(items.length === 0 ? 0 : items.length + 1);
  const others = await waybill.jobs.claim({ queues: ['q'], count: 2 });
  expect(others.length + items.length).toBe(2);
});

test('HTTP: what a repetition has delivered stays with its worker, whatever becomes of the first answer', async () => {
  const server = await socketServer();
  const { url, waybill, noticed } = server;
  await fill(waybill, MANY, LARGE);
  const call = { queues: ['q'], count: MANY, claim_id: 'claim-0001', visibility_timeout_ms: HOUR_MS };
  const left = noticed(FETCH);
  const first = await RawClient.connect(url);
  first.send(rawRequest('POST', FETCH, call));
  await first.until(/ 200 /);
  first.socket.pause();
  const headers = { 'Content-Type': 'application/json' };
  const repeated = await fetch(url + FETCH, { method: 'POST', headers, body: JSON.stringify(call) });
  const { jobs } = (await repeated.json()) as { jobs: { id: string; lease_token: string }[] };
  expect(jobs).toHaveLength(MANY);
  first.socket.destroy();
  await left;
  await server.close();
  const settled = jobs.map(({ id, lease_token: leaseToken }) =>
    waybill.jobs.settle({ id, leaseToken, outcome: { kind: 'completed', result: null } }),
  );
  expect((await Promise.all(settled)).every(({ state }) => state === 'completed')).toBe(true);
});

// fault: the network delivers a request after its repetition was answered, and its client is gone
test('HTTP: what a repetition has delivered stays with its worker when the first request comes late', async () => {
  const server = await socketServer();
  const { url, waybill } = server;
  await fill(waybill, 3);
  const call = { queues: ['q'], count: 3, claim_id: 'claim-0001', visibility_timeout_ms: HOUR_MS };
  const headers = { 'Content-Type': 'application/json' };
  const answered = await fetch(url + FETCH, { method: 'POST', headers, body: JSON.stringify(call) });
  const { jobs } = (await answered.json()) as { jobs: { id: string; lease_token: string }[] };
  const late = rawRequest('POST', FETCH, call);
  await LEAVINGS['hangs up while its claim is under way']!.leave(server, await RawClient.connect(url), late);
  await server.close();
  const settled = jobs.map(({ id, lease_token: leaseToken }) =>
    waybill.jobs.settle({ id, leaseToken, outcome: { kind: 'completed', result: null } }),
  );
  expect((await Promise.all(settled)).map(({ state, run }) => [state, run])).toEqual(Array(3).fill(['completed', 1]));
});

// fault: the server closes while the client of a claim reads nothing
test('HTTP: guarantee 13: closing waits until what was not delivered is taken back', async () => {
  const { url, waybill, close } = await socketServer({ graceMs: 100 });
  await fill(waybill, MANY, LARGE);
  const client = await RawClient.connect(url);
  client.send(claimOf({}));
  await client.until(/ 200 /);
  client.socket.pause();
  await close();
  expect((await waybill.jobs.list({ limit: 1_000, filter: { states: ['available'] } })).items).toHaveLength(MANY);
});
