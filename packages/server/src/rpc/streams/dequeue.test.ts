import { Code, ConnectError } from '@connectrpc/connect';
import { expect, test } from 'vitest';
import { harness } from '../../testing/harness.ts';
import { connectClients, grpcClients } from '../../testing/rpc-clients.ts';
import { streamCall } from '../../testing/rpc-wire.ts';
import { socketServer } from '../../testing/socket-server.ts';
import { LEFT_LEASE_MS } from './held-alive.ts';

const JOB = { type: 'x', args: [] };

const DEQUEUE = '/waybill.v1.JobService/DequeueJobs';

test('a job that was taken for a client which leaves before it got it is given back at once', async () => {
  const { app, waybill } = harness();
  const { job } = await waybill.jobs.enqueue(JOB);
  const answer = await app.request(DEQUEUE, streamCall({ queue: 'default' }));
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'active', run: 1 });
  await answer.body!.cancel();
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'available', outcome: 'requeued', attempt: 0 });
});

test('a client that leaves before there is a job leaves nothing behind', async () => {
  const { grpcUrl, waybill, noticed } = await socketServer({ grpcPort: 0 });
  const { jobs } = grpcClients(grpcUrl!);
  const isGone = noticed(DEQUEUE);
  const leaving = new AbortController();
  const waiting = jobs.dequeueJobs({ queue: 'default' }, { signal: leaving.signal })[Symbol.asyncIterator]().next();
  // It has an answer, so the stream was opened before it.
  await jobs.listJobs({});
  leaving.abort();
  await expect(waiting).rejects.toMatchObject({ code: Code.Canceled });
  await isGone;
  const { job } = await waybill.jobs.enqueue(JOB);
  const [lease] = await waybill.jobs.claim({ queues: ['default'], waitMs: 30_000 });
  expect(lease!.job).toMatchObject({ id: job.id, run: 1 });
});

test('a stream is the sign of life of its client: without it, jobs go to others soon', async () => {
  const { app, waybill, clock } = harness();
  const { job } = await waybill.jobs.enqueue(JOB);
  const answer = await app.request(DEQUEUE, streamCall({ queue: 'default' }));
  const reader = answer.body!.getReader();
  await reader.read();
  // Asked for the next one, so the job counts as delivered.
  const next = reader.read();
  const leftMs = async () => (await waybill.jobs.get(job.id)).leaseUntil! - clock.now();
  expect(await leftMs()).toBe(LEFT_LEASE_MS);
  for (let passed = 0; passed < 10; passed += 1) await clock.advance(10_000);
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'active', run: 1 });
  expect(await leftMs()).toBeGreaterThan(0);
  expect(await leftMs()).toBeLessThanOrEqual(LEFT_LEASE_MS);
  await reader.cancel();
  await next;
  await clock.advance(LEFT_LEASE_MS);
  expect(await waybill.jobs.get(job.id)).toMatchObject({ state: 'available', outcome: 'lost' });
});

test('a stream that has sent what it was asked for ends, and its jobs are held for as long as was asked', async () => {
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 });
  const { jobs } = grpcClients(grpcUrl!);
  await waybill.jobs.enqueueMany([JOB, JOB, JOB]);
  const ids: string[] = [];
  for await (const { job } of jobs.dequeueJobs({ queue: 'default', maxJobs: 2, visibilityTimeoutSeconds: 600 }))
    ids.push(job!.jobId);
  expect(ids).toHaveLength(2);
  for (const id of ids) expect((await waybill.jobs.get(id)).leaseUntil! - Date.now()).toBeGreaterThan(500_000);
  expect((await waybill.jobs.list({ filter: { states: ['available'] } })).items).toHaveLength(1);
});

test('a stream that goes on sends the next job when the one before is over, whoever ended it', async () => {
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 });
  const { jobs } = grpcClients(grpcUrl!);
  const [first, second, third] = await waybill.jobs.enqueueMany([JOB, JOB, JOB]);
  const given = jobs.dequeueJobs({ queues: ['default'], maxOutstanding: 1 })[Symbol.asyncIterator]();
  const { value: one } = await given.next();
  expect(one!.job!.jobId).toBe(first!.id);
  const next = given.next();
  // Answered by the same server, which would have taken the second job by now.
  await jobs.listJobs({});
  expect(await waybill.jobs.get(second!.id)).toMatchObject({ state: 'available' });
  await jobs.completeJob({ taskToken: one!.taskToken, result: { success: true } });
  expect((await next).value!.job!.jobId).toBe(second!.id);
  const last = given.next();
  await waybill.jobs.cancel(second!.id);
  expect((await last).value!.job!.jobId).toBe(third!.id);
});

test('a server that ends ends its streams with a word, and waits for nobody', async () => {
  const { grpcUrl, url, close } = await socketServer({ grpcPort: 0, graceMs: 60_000 });
  const open = [grpcClients(grpcUrl!), connectClients(url, true)].map(async ({ jobs, log }) => {
    const streams = [jobs.dequeueJobs({ queue: 'default' }), log.follow({})];
    const ends = streams.map((one) => one[Symbol.asyncIterator]().next());
    await jobs.listJobs({});
    return ends;
  });
  const ends = Promise.allSettled((await Promise.all(open)).flat());
  await close();
  for (const end of await ends)
    expect(ConnectError.from((end as PromiseRejectedResult).reason).code).toBe(Code.Unavailable);
});

test('a call that names no visibility gets the default of the server: 300 seconds, or what that was given', async () => {
  for (const [given, expectedMs] of [
    [{}, 300_000],
    [{ visibilityMs: 90_000 }, 90_000],
  ] as const) {
    const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 }, given);
    const { jobs } = grpcClients(grpcUrl!);
    const { job } = await waybill.jobs.enqueue(JOB);
    let taskToken = '';
    for await (const one of jobs.dequeueJobs({ queue: 'default', maxJobs: 1 })) ({ taskToken } = one);
    const heldMs = async () => {
      const { leaseUntil, startedAt } = await waybill.jobs.get(job.id);
      return leaseUntil! - startedAt!;
    };
    // Counted from the moment at which it was sent, on a clock that goes on.
    await expect.poll(heldMs).toBeGreaterThanOrEqual(expectedMs);
    expect(await heldMs()).toBeLessThan(expectedMs + 60_000);
    const { leaseExpiresAt } = await jobs.updateJobVisibility({ taskToken });
    expect(Number(leaseExpiresAt!.seconds) * 1_000 - Date.now()).toBeGreaterThan(expectedMs - 60_000);
  }
});
