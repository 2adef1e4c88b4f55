import { engine, type JobRequest, type Waybill } from '@waybill/core';
import type { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { postgresUrl, tempClient, tempSchema } from './testing/server.ts';

/** Far less than the 10 s after which a statement is given up, and far more than what a write takes. */
const SOON_MS = 5_000;

interface Bench {
  /** The engine of the process whose caller leaves a transaction open. */
  holder: Waybill;
  /** Another process. */
  other: Waybill;
  client: Client;
}

async function bench(): Promise<Bench> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const open = async () => {
    const waybill = engine({ store: await postgresStore({ url, schema, poolSize: 4 }), maintenance: false });
    onTestFinished(() => waybill.close());
    return waybill;
  };
  const [holder, other] = [await open(), await open()];
  // The queue is known to all, so that nobody waits for its row.
  await holder.jobs.enqueue(request());
  return { holder, other, client: await tempClient(url) };
}

const request = (options: JobRequest['options'] = {}): JobRequest => ({ type: 'test.job', args: [], options });
const limited = (key: string) => request({ rate_limit: { key, concurrency: 100 } });
const unique = (n: string) => request({ unique: { keys: ['queue'] }, queue: `unique-${n}` });

/** What each kind of key looks like to a producer. */
const KINDS: Record<string, (to: Waybill, key: string, within?: Client) => Promise<unknown>> = {
  'an idempotency key': (to, key, within) =>
    to.jobs.enqueue(request(), { idempotencyKey: key, ...(within && { within }) }),
  'a unique key': (to, key, within) => to.jobs.enqueue(unique(key), within && { within }),
  'a limit key': (to, key, within) => to.jobs.enqueue(limited(key), within && { within }),
};

async function elapsed(work: Promise<unknown>): Promise<number> {
  const begun = performance.now();
  await work;
  return performance.now() - begun;
}

/** Whether a call is still under way. */
function watch(call: Promise<unknown>): { isOver: boolean; call: Promise<unknown> } {
  const watched = { isOver: false, call };
  const end = () => {
    watched.isOver = true;
  };
  call.then(end, end);
  return watched;
}

for (const [kind, enqueue] of Object.entries(KINDS)) {
  test(`B4: an open transaction that holds ${kind} holds up only the calls that need it`, async () => {
    const { holder, other, client } = await bench();
    await client.query('begin');
    await enqueue(holder, 'held', client);
    // More than there are flushes at once, and beside them in the same flush what has nothing to do with the key.
    const held = [1, 2, 3, 4].map(() => watch(enqueue(other, 'held')));
    const free = [1, 2, 3].flatMap((n) => [enqueue(other, `free-${n}`), other.jobs.enqueue(request())]);
    expect(await elapsed(Promise.all(free))).toBeLessThan(SOON_MS);
    const later = [4, 5, 6].flatMap((n) => {
      held.push(watch(enqueue(other, 'held')));
      return [enqueue(other, `free-${n}`), other.jobs.enqueue(request())];
    });
    expect(await elapsed(Promise.all(later))).toBeLessThan(SOON_MS);
    expect(held.map(({ isOver }) => isOver)).toEqual(held.map(() => false));
    await client.query('commit');
    // A unique job is refused by then, the others are stored or found.
    const answers = await Promise.allSettled(held.map(({ call }) => call));
    const isRefused = kind === 'a unique key';
    for (const answer of answers) {
      expect(answer).toMatchObject(isRefused ? { reason: { code: 'duplicate' } } : { status: 'fulfilled' });
    }
  });
}

test('B4: an open transaction that holds a limit key holds up only the settles of its jobs', async () => {
  const { holder, other, client } = await bench();
  await other.jobs.enqueueMany([
    ...[1, 2, 3].map(() => limited('held')),
    ...[1, 2, 3].map((n) => limited(`free-${n}`)),
  ]);
  const leases = await other.jobs.claim({ queues: ['default'], count: 7 });
  expect(leases).toHaveLength(7);
  await client.query('begin');
  await holder.jobs.enqueue(limited('held'), { within: client });
  const settle = (isHeld: boolean) =>
    leases
      .filter(({ job }) => (job.limitKey === 'held') === isHeld)
      .map(({ job, token }) =>
        watch(other.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } })),
      );
  const [held, free] = [settle(true), settle(false)];
  expect(await elapsed(Promise.all(free.map(({ call }) => call)))).toBeLessThan(SOON_MS);
  expect(held.map(({ isOver }) => isOver)).toEqual([false, false, false]);
  await client.query('rollback');
  expect(await elapsed(Promise.all(held.map(({ call }) => call)))).toBeLessThan(SOON_MS);
});
