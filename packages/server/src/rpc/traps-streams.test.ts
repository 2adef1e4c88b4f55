import { toListValue } from '@waybill/client/rpc';
import { engine, silentLogger } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { JobService } from '@waybill/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from '../app.ts';
import { serve } from '../serve.ts';
import { harness } from '../testing/harness.ts';
import { all, connectClients, grpcClients } from '../testing/rpc-clients.ts';
import { envelope, sendWire, streamCall } from '../testing/rpc-wire.ts';
import { socketServer } from '../testing/socket-server.ts';

// What goes wrong with streams, servers and deadlines in a public system of this kind, and must not here.

const own = (sequence: number) => ({ sequence: BigInt(sequence), type: 'own' });
const many = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => own(from + n));

/** Two servers, each with an engine of its own, on one store. */
async function twoServers() {
  const store = memoryStore();
  const clients = [];
  for (let server = 0; server < 2; server += 1) {
    const waybill = engine({ store, logger: silentLogger });
    const app = createApp({ waybill, version: 'test', logger: silentLogger });
    const { url, grpcUrl, close } = await serve(app, { port: 0, grpcPort: 0, graceMs: 1_000 });
    onTestFinished(async () => {
      await close();
      await waybill.close();
    });
    clients.push({ ...grpcClients(grpcUrl!), web: connectClients(url, true) });
  }
  return clients as [(typeof clients)[0], (typeof clients)[0]];
}

test('a follower sees what is published by another server of the store', async () => {
  const [one, two] = await twoServers();
  const { job } = await one.jobs.enqueueJob({ type: 'x', args: toListValue([]) });
  const [given] = await all(one.jobs.dequeueJobs({ queue: 'default', maxJobs: 1 }));
  const stream = two.events.streamEvents({ jobId: job!.jobId })[Symbol.asyncIterator]();
  expect((await stream.next()).value!.item.case).toBe('live');
  await one.events.appendEvents({ taskToken: given!.taskToken, events: [own(1)] });
  expect((await stream.next()).value!.item).toMatchObject({ case: 'event', value: { sequence: 1n } });
  // A token of one server is taken by the other.
  await two.jobs.completeJob({ taskToken: given!.taskToken, result: { success: true } });
  expect((await stream.next()).done).toBe(true);
});

test('a reader that is slower than its history gets all of it, then what came meanwhile: in order, once', async () => {
  const { grpcUrl, url } = await socketServer({ grpcPort: 0 });
  const { jobs, events } = grpcClients(grpcUrl!);
  const { job } = await jobs.enqueueJob({ type: 'x', args: toListValue([]) });
  const [given] = await all(jobs.dequeueJobs({ queue: 'default', maxJobs: 1 }));
  const { taskToken } = given!;
  await events.appendEvents({ taskToken, events: many(1, 1_000) });
  const readers = [events, connectClients(url, false).events].map((client) =>
    client.streamEvents({ jobId: job!.jobId })[Symbol.asyncIterator](),
  );
  for (const reader of readers) await reader.next();
  // Published while both readers stand at their first event.
  await events.appendEvents({ taskToken, events: many(1_001, 1_500) });
  const rest = readers.map(async (reader) => {
    const seen: bigint[] = [];
    for (let next = await reader.next(); !next.done; next = await reader.next()) {
      const { item } = next.value;
      if (item.case === 'event') seen.push(item.value.sequence);
      if (seen.length === 1_000) await events.readEvents({ jobId: job!.jobId, limit: 1 });
    }
    return seen;
  });
  await jobs.completeJob({ taskToken, result: { success: true } });
  const expected = many(2, 1_500).map(({ sequence }) => sequence);
  for (const seen of await Promise.all(rest)) expect(seen).toEqual(expected);
});

test('a request id is that of its tenant: another tenant gets a job of its own', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0 });
  const [one, two] = ['one', 'two'].map((tenant) => grpcClients(grpcUrl!, { 'X-OJS-Tenant': tenant }).jobs);
  const request = { requestId: 'same', type: 'x', args: toListValue([]) };
  const [first, second] = [await one!.enqueueJob(request), await two!.enqueueJob(request)];
  expect([first.created, second.created]).toEqual([true, true]);
  expect(second.job!.jobId).not.toBe(first.job!.jobId);
  expect(await one!.enqueueJob(request)).toMatchObject({ created: false, job: { jobId: first.job!.jobId } });
});

// fault: a worker that hangs for longer than its job may take, and one that never comes back
test('a timeout is kept, and a job whose worker has gone runs again until its attempts are used up', async () => {
  const { app, waybill, clock } = harness();
  const send = async (method: 'enqueueJob' | 'dequeueJobs' | 'completeJob', body: object) => {
    const call = { protocol: 'grpc', method: JobService.method[method], isJson: true } as const;
    const { status, messages } = await sendWire(app, { ...call, body: envelope(JSON.stringify(body)) });
    return { status, answer: messages[0] && JSON.parse(String(messages[0])) };
  };
  const retry = { max_attempts: 2, initial_interval_ms: 1_000, jitter: false };
  const { answer } = await send('enqueueJob', { type: 'x', args: [], timeout: '5s', options: { retry } });
  const id: string = answer.job.jobId;
  const take = { queue: 'default', maxJobs: 1, visibilityTimeoutSeconds: 10 };
  const { answer: given } = await send('dequeueJobs', take);
  await clock.advance(5_000);
  const late = await send('completeJob', { taskToken: given.taskToken, result: { success: true } });
  expect(late.status).toBe('ABORTED');
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'retryable', outcome: 'timed_out' });
  await clock.advance(1_000);
  expect((await send('dequeueJobs', take)).answer.job).toMatchObject({ jobId: id, run: 2 });
  for (let passed = 0; passed < 3; passed += 1) await clock.advance(5_000);
  expect(await waybill.jobs.get(id)).toMatchObject({ state: 'discarded', attempt: 2 });
});

// fault: the job is deleted under its follower
test.each([false, true])('a stream ends when its job is deleted, also one that stays: %s', async (stay) => {
  const { app, waybill, clock } = harness({ maintenance: false });
  await waybill.queues.setKeep('default', 'none');
  const { job } = await waybill.jobs.enqueue({ type: 'x', args: [] });
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  const held = { id: job.id, leaseToken: lease!.token };
  await waybill.jobs.append({ ...held, entries: [{ sequence: 1, type: 'own' }] });
  const answer = await app.request('/waybill.v1.JobEventsService/StreamEvents', streamCall({ jobId: job.id, stay }));
  const reader = answer.body!.getReader();
  let text = '';
  const read = async () => {
    const { done, value } = await reader.read();
    text += Buffer.from(value ?? []).toString('latin1');
    return done;
  };
  while (!text.includes('"live"')) await read();
  await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
  await expect(waybill.jobs.get(job.id)).rejects.toMatchObject({ code: 'not_found' });
  let isOver = false;
  const over = (async () => {
    while (!(await read()));
    isOver = true;
  })();
  await expect.poll(() => clock.advance(1_000).then(() => isOver), { interval: 1, timeout: 30_000 }).toBe(true);
  await over;
  expect(text.match(/"sequence":"1"/g)).toHaveLength(1);
  expect(text).not.toContain('error');
});
