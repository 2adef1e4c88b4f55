import { remote } from '@waybill/client/http';
import type { LoggedEvent } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const JOB = { type: 'test.job', args: [], meta: { a: 1 } };

/** A server with keys, and a client that names no tenant. */
async function keyed(tenant: string) {
  const { app, waybill } = harness({ auth: {}, maintenance: false });
  const { secret } = await waybill.keys!.create({ name: 'test', scopes: ['admin'] }, { tenant });
  const fetch = async (url: string, init: RequestInit) => app.request(url, init);
  const client = remote('http://waybill.test', { key: secret, fetch });
  onTestFinished(() => client.close());
  return { client, waybill };
}

test('what a client with a tenant’s key reads says whose it is, without the client naming it', async () => {
  const { client } = await keyed('acme');
  const { job } = await client.jobs.enqueue(JOB);
  expect(job).toMatchObject({ tenant: 'acme', spec: { meta: { a: 1 } } });
  expect(job.spec.meta).toEqual({ a: 1 });
  // Answers that are about no tenant in between change nothing.
  await client.health();
  const [many] = await client.jobs.enqueueMany([JOB]);
  const [lease] = await client.jobs.claim({ queues: ['default'], workerId: 'w' });
  const outcome = { kind: 'completed', result: null } as const;
  const settled = await client.jobs.settle({
    ...{ id: lease!.job.id, leaseToken: lease!.token, outcome, tenant: lease!.job.tenant },
  });
  const listed = (await client.jobs.list({ limit: 9 })).items;
  const flow = await client.workflows.create({ type: 'chain', steps: [JOB] });
  const { events } = await client.events.read({ limit: 9 });
  const all: { tenant: string }[] = [many!, lease!.job, settled, ...listed, flow, ...events];
  expect(all.map(({ tenant }) => tenant)).toEqual(all.map(() => 'acme'));
  let followed: LoggedEvent | undefined;
  const over = new AbortController();
  for await (const event of client.events.follow({ after: events[0]!.cursor, signal: over.signal })) {
    followed = event;
    over.abort();
  }
  expect(followed).toMatchObject({ tenant: 'acme' });
});

test.each(['', '*'])('with a key of the tenant %j a producer’s own tenant_id stays what it is', async (tenant) => {
  const { client } = await keyed(tenant);
  const { job } = await client.jobs.enqueue({ ...JOB, meta: { tenant_id: 'of-the-producer' } });
  expect(job).toMatchObject({ tenant: '', spec: { meta: { tenant_id: 'of-the-producer' } } });
  expect(await client.jobs.get(job.id)).toMatchObject({ tenant: '', spec: { meta: { tenant_id: 'of-the-producer' } } });
});

test('an operator who names a tenant by call is answered about that one', async () => {
  const { client } = await keyed('*');
  const acme = await client.jobs.enqueue(JOB, { tenant: 'acme' });
  const own = await client.jobs.enqueue(JOB);
  expect([acme.job.tenant, own.job.tenant]).toEqual(['acme', '']);
});
