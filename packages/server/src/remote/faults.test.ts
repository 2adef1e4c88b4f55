import type { Lease } from '@waybill/core';
import { jobIdAt, TEST_EPOCH } from '@waybill/core/testing';
import { describe, expect, test } from 'vitest';
import { type Drop, remoteHarness, take } from '../testing/remote-harness.ts';

const JOB = { type: 'test.job', args: [{ b: 1, a: 2 }] };
const DROPS: Drop[] = ['before', 'after', 'cut'];
const count = async (server: ReturnType<typeof remoteHarness>) =>
  (await server.waybill.jobs.list({ limit: 100 })).items.length;

describe.each(DROPS)('a connection dropped %s the effect', (drop) => {
  test('an enqueue is stored once and answered as created', async () => {
    const server = remoteHarness();
    server.drop('POST /jobs', drop, drop);
    const { job, created } = await server.client.jobs.enqueue(JOB);
    expect([created, await count(server), server.sent.filter((line) => line === 'POST /jobs').length]).toEqual([
      true,
      1,
      3,
    ]);
    expect((await server.waybill.jobs.get(job.id)).spec.args).toEqual(JOB.args);
  });

  test('an enqueue with a key or an id of the caller is stored once too', async () => {
    const server = remoteHarness();
    const id = jobIdAt(TEST_EPOCH, 1);
    server.drop('POST /jobs', drop);
    expect(await server.client.jobs.enqueue({ ...JOB, id })).toMatchObject({ created: true, job: { id } });
    server.drop('POST /jobs', drop);
    const first = await server.client.jobs.enqueue(JOB, { idempotencyKey: 'k' });
    const second = await server.client.jobs.enqueue(JOB, { idempotencyKey: 'k' });
    expect([first.created, second.created, second.job.id === first.job.id]).toEqual([true, false, true]);
    expect(await count(server)).toBe(2);
  });

  test.each(['reject', 'ignore', 'replace'])(
    'an enqueue that is unique by %s does not meet itself',
    async (on_conflict) => {
      const server = remoteHarness();
      server.drop('POST /jobs', drop);
      const { job, created } = await server.client.jobs.enqueue({ ...JOB, options: { unique: { on_conflict } } });
      expect([created, job.state, await count(server)]).toEqual([true, 'available', 1]);
    },
  );

  test('a batch is stored once, and answered in its order', async () => {
    const server = remoteHarness();
    const { job: owner } = await server.client.jobs.enqueue({ ...JOB, type: 'test.unique', options: { unique: {} } });
    server.drop('POST /jobs/batch', drop);
    const ignored = { ...JOB, type: 'test.unique', options: { unique: { on_conflict: 'ignore' } } };
    const stored = await server.client.jobs.enqueueMany([{ ...JOB, args: [1] }, ignored, { ...JOB, args: [2] }]);
    expect(stored.map(({ spec }) => spec.args)).toEqual([[1], JOB.args, [2]]);
    expect([stored[1]!.id, await count(server)]).toEqual([owner.id, 3]);
  });

  test('a claim gives each job to one lease', async () => {
    const server = remoteHarness();
    await server.client.jobs.enqueueMany([JOB, JOB, JOB]);
    server.drop('fetch', drop, drop);
    const leases = await server.client.jobs.claim({ queues: ['default'], count: 2 });
    const active = (await server.waybill.jobs.list({ limit: 10, filter: { states: ['active'] } })).items;
    expect(leases.map(({ job }) => job.id).sort()).toEqual(active.map(({ id }) => id).sort());
    expect(active.map(({ run }) => run)).toEqual([1, 1]);
  });

  test.each([
    ['ack', { kind: 'completed', result: 1 }, 'job.completed'],
    ['nack', { kind: 'failed', error: { code: 'x', message: '' } }, 'job.failed'],
    ['nack', { kind: 'snoozed', until: TEST_EPOCH + 1_000 }, 'job.snoozed'],
    ['nack', { kind: 'snoozed', error: { code: 'unknown_type', message: '' } }, 'job.snoozed'],
    ['nack', { kind: 'requeued' }, 'job.requeued'],
    ['nack', { kind: 'discarded', error: { code: 'x', message: '' } }, 'job.discarded'],
  ] as const)('%s of %o happens once', async (call, outcome, type) => {
    const server = remoteHarness({ maintenance: false });
    const { job } = await server.client.jobs.enqueue(JOB);
    const [{ token }] = (await server.client.jobs.claim({ queues: ['default'] })) as [Lease];
    server.drop(`/${call}`, drop, drop);
    const settled = await server.client.jobs.settle({ id: job.id, leaseToken: token, outcome });
    expect(settled.state).toBe((await server.waybill.jobs.get(job.id)).state);
    const { events } = await server.waybill.events.read({ limit: 100, filter: { types: [type] } });
    expect(events).toHaveLength(1);
  });

  test('reading goes on', async () => {
    const server = remoteHarness();
    const { job } = await server.client.jobs.enqueue(JOB);
    server.drop('GET', drop, drop, drop);
    expect((await server.client.jobs.get(job.id)).id).toBe(job.id);
  });

  test('what might happen twice is sent once', async () => {
    const server = remoteHarness();
    const { job } = await server.client.jobs.enqueue(JOB);
    await server.client.jobs.claim({ queues: ['default'] });
    server.drop('', drop, drop, drop, drop);
    const before = server.sent.length;
    const { jobs, workflows, deadLetters } = server.client;
    const calls = [
      () => jobs.settle({ id: job.id, outcome: { kind: 'requeued' } }),
      () => workflows.create({ nodes: [{ id: 'a', ...JOB }] }),
      () => deadLetters.replayMany({}),
      () => jobs.cancel(job.id),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ name: 'WaybillError', code: 'unavailable', retryable: true });
    expect(server.sent.length - before).toBe(calls.length);
  });
});

test('repetition ends, with the reason kept', async () => {
  const server = remoteHarness();
  server.drop('POST', ...Array<Drop>(10).fill('before'));
  const refused = server.client.jobs.enqueue(JOB);
  await expect(refused).rejects.toMatchObject({ code: 'unavailable', cause: new TypeError('fetch failed') });
  expect(server.sent).toHaveLength(4);
});

test('an id that another job has is a duplicate, repeated or not', async () => {
  const server = remoteHarness();
  const id = jobIdAt(TEST_EPOCH, 1);
  await server.client.jobs.enqueue({ ...JOB, id });
  for (const drops of [[], ['before']] as Drop[][]) {
    server.drop('POST', ...drops);
    await expect(server.client.jobs.enqueue({ ...JOB, id, args: ['other'] })).rejects.toMatchObject({
      code: 'duplicate',
      details: { existing_job_id: id },
    });
    server.drop('POST', ...drops);
    await expect(server.client.jobs.enqueueMany([JOB, { ...JOB, id, args: ['x'] }])).rejects.toMatchObject({
      code: 'duplicate',
    });
  }
  await expect(server.client.jobs.enqueue({ ...JOB, id })).rejects.toMatchObject({ code: 'duplicate' });
  expect(await count(server)).toBe(1);
});

test('refusals keep what the server said', async () => {
  const { client, log } = remoteHarness();
  await expect(client.jobs.enqueue({ ...JOB, type: 'No' })).rejects.toMatchObject({
    name: 'WaybillError',
    code: 'invalid_request',
    message: expect.stringContaining("'type'"),
    details: { field: 'type' },
    hint: expect.any(String),
    retryable: false,
    requestId: expect.stringMatching(/^req_/),
  });
  expect(log).toEqual([]);
});

test.each(['*', 'a b', 'größe'])('the tenant %s is refused before anything is sent', async (tenant) => {
  const { client, sent } = remoteHarness();
  const other = { tenant };
  for (const call of [
    () => client.jobs.enqueue(JOB, other),
    () => client.jobs.list({ limit: 1, filter: other }),
    () => client.jobs.claim({ queues: ['default'], ...other }),
    () => client.queues.list(other),
    () => client.events.read({ limit: 1, filter: other }),
    () => take(client.events.follow({ filter: other, signal: new AbortController().signal }), 1),
    () => client.deadLetters.discardMany(other),
  ])
    await expect(call()).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringMatching(/tenant/) });
  expect(sent).toEqual([]);
});

test('a filter that lists nothing is refused, since left out it would match everything', async () => {
  const { client } = remoteHarness();
  await expect(client.jobs.list({ limit: 1, filter: { states: [] } })).rejects.toMatchObject({
    code: 'invalid_request',
  });
  for (const call of [client.deadLetters.discardMany({ queues: [] }), client.deadLetters.replayMany({ types: [] })])
    await expect(call).rejects.toMatchObject({ code: 'invalid_request' });
});
