import { engine, type Lease, type Waybill } from '@waybill/core';
import type { Client } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { postgresUrl, tempClient, tempSchema } from './testing/server.ts';

const COMPLETED = { kind: 'completed', result: 'done' } as const;

async function bench(): Promise<{ waybill: Waybill; client: Client }> {
  const url = await postgresUrl();
  const store = await postgresStore({ url, schema: tempSchema(url), poolSize: 4 });
  const waybill = engine({ store, maintenance: false });
  onTestFinished(() => waybill.close());
  return { waybill, client: await tempClient(url) };
}

async function claimOne(waybill: Waybill): Promise<Lease> {
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  if (!lease) throw new Error('There was nothing to claim.');
  return lease;
}

const fenced = ({ job, token }: Lease) => ({ id: job.id, leaseToken: token, outcome: COMPLETED });

test('settled twice in the transaction and once more after it, a run ends once', async () => {
  const { waybill, client } = await bench();
  await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  const lease = await claimOne(waybill);
  await client.query('begin');
  const first = await waybill.jobs.settle({ ...fenced(lease), within: client });
  expect(await waybill.jobs.settle({ ...fenced(lease), within: client })).toEqual(first);
  await client.query('commit');
  expect(await waybill.jobs.settle(fenced(lease))).toEqual(first);
  const { events } = await waybill.events.read({ limit: 10 });
  expect(events.map(({ type }) => type)).toEqual(['job.enqueued', 'job.started', 'job.completed']);
});

test('a settle that waits for the transaction of another finds what became of it', async () => {
  const { waybill, client } = await bench();
  for (const end of ['commit', 'rollback']) {
    await waybill.jobs.enqueue({ type: 'test.job', args: [] });
    const lease = await claimOne(waybill);
    await client.query('begin');
    await waybill.jobs.settle({ ...fenced(lease), within: client });
    const error = { code: 'handler_error', message: 'no', retryable: false };
    const failed = waybill.jobs.settle({ ...fenced(lease), outcome: { kind: 'failed', error } });
    await client.query(end);
    if (end === 'commit') await expect(failed).rejects.toMatchObject({ code: 'lease_lost' });
    else await expect(failed).resolves.toMatchObject({ state: 'discarded' });
    const { state } = await waybill.jobs.get(lease.job.id);
    expect(state).toBe(end === 'commit' ? 'completed' : 'discarded');
  }
});

test('a run that is over is refused inside of the transaction, which stays usable', async () => {
  const { waybill, client } = await bench();
  const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
  const lease = await claimOne(waybill);
  await waybill.jobs.cancel(job.id);
  await client.query('begin');
  await expect(waybill.jobs.settle({ ...fenced(lease), within: client })).rejects.toMatchObject({ code: 'lease_lost' });
  expect((await client.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await client.query('commit');
  expect((await waybill.jobs.get(job.id)).state).toBe('cancelled');
});

test('a slot is given to the next job by the commit, and kept by a rollback', async () => {
  const { waybill, client } = await bench();
  const limited = { type: 'test.job', args: [], options: { rate_limit: { key: 'k', concurrency: 1 } } };
  const [, next] = await waybill.jobs.enqueueMany([limited, limited]);
  const lease = await claimOne(waybill);
  for (const end of ['rollback', 'commit']) {
    await client.query('begin');
    await waybill.jobs.settle({ ...fenced(lease), within: client });
    expect(await waybill.jobs.claim({ queues: ['default'] })).toEqual([]);
    await client.query(end);
    const claimed = await waybill.jobs.claim({ queues: ['default'] });
    expect(claimed.map(({ job }) => job.id)).toEqual(end === 'commit' ? [next!.id] : []);
  }
});
