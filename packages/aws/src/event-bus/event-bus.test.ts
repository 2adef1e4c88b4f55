import { PutEventsCommand, type PutEventsRequestEntry } from '@aws-sdk/client-eventbridge';
import { type BlobStore, SinkRefusal } from '@waybill/core';
import { temporaryBlobs } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { inflated, OMITTED, OVERFLOW } from './overflow.ts';
import type { Client } from './sdk.ts';
import { APP, type BusBench, busBench, running, settle, whenPut } from './testing/bench.ts';

const DONE = { kind: 'completed', result: { ok: true } } as const;

/** Claims the next job and ends its run. */
async function work({ waybill, claimOne }: BusBench, outcome: Parameters<typeof settle>[2] = DONE) {
  const lease = await claimOne({ workerId: 'w', leaseMs: 10_000 });
  await settle(waybill, lease, outcome);
  return lease.job;
}

test('what happens to a task is on the bus, with source, detail type, and the ids of task and row', async () => {
  const made = await busBench();
  await running(made);
  const id = await made.enqueue();
  await work(made);
  const events = await whenPut(made, 3);
  expect(made.typesOf({ requestId: id })).toEqual(['Task Pending', 'Task Processing Started', 'Task Completed']);
  expect(events[2]).toMatchObject({
    ...{ entityType: 'TASK', entityId: id, tenantId: '', app: APP, eventId: `evt_${id}_server_3` },
    properties: { requestId: id, rowId: id, output: { ok: true }, exitCode: 0 },
  });
});

test('events that are published together share requests of ten, and a request never has more', async () => {
  const made = await busBench();
  for (let at = 0; at < 25; at += 1) await made.enqueue();
  const { events } = await made.waybill.events.read({ limit: 100 });
  await made.bus.publish(events);
  expect(made.events()).toHaveLength(25);
  expect(made.requests.reduce((sum, count) => sum + count)).toBe(25);
  expect(Math.max(...made.requests)).toBe(10);
});

test('requests are bounded by size too', async () => {
  const made = await busBench();
  for (let at = 0; at < 6; at += 1) await made.enqueue();
  for (let at = 0; at < 6; at += 1) await work(made, { kind: 'completed', result: 'x'.repeat(90_000) });
  const { events } = await made.waybill.events.read({ limit: 100, filter: { types: ['job.completed'] } });
  // The local EventBridge refuses a request over 256 KB, as the real one does.
  await made.bus.publish(events);
  expect(made.requests).toEqual([2, 2, 2]);
});

test('the sink goes on where it stopped, and repeats an event under its id', async () => {
  const made = await busBench();
  const running = made.waybill.sinks.run({ list: async () => [made.bus.sink] });
  await made.clock.advance(1_000);
  await made.enqueue();
  await whenPut(made, 1);
  await running.stop();
  await made.enqueue();
  made.waybill.sinks.run({ list: async () => [made.bus.sink] });
  const events = await whenPut(made, 2);
  expect(events).toHaveLength(2);
  expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(2);
});

test('events of all tenants are on the bus, and say whose they are', async () => {
  const made = await busBench();
  await running(made);
  await made.enqueue();
  await made.waybill.jobs.enqueue({ type: 'a.b', args: [] }, { tenant: 'acme' });
  const events = await whenPut(made, 2);
  expect(events.map(({ tenantId, pk }) => [tenantId, pk]).sort()).toEqual([
    ['', 'TENANT#'],
    ['acme', 'TENANT#acme'],
  ]);
});

test('heartbeats and updates reach the bus, one per extension, with the job and the end of the lease', async () => {
  const made = await busBench();
  const { waybill, clock } = made;
  await running(made);
  const steps = [
    { type: 'a.b', args: [] },
    { type: 'a.c', args: [] },
  ];
  const flow = await waybill.workflows.create({ type: 'chain', steps });
  const { job, token } = await made.claimOne({ workerId: 'w', leaseMs: 10_000 });
  await clock.advance(4_000);
  await waybill.jobs.heartbeat({ workerId: 'w', jobs: [{ id: job.id, leaseToken: token }] });
  await waybill.jobs.heartbeat({ workerId: 'w', jobs: [{ id: job.id, leaseToken: token }] });
  await waybill.jobs.report({ id: job.id, leaseToken: token, fraction: 0.5, data: { message: 'half' } });
  const until = clock.now() + 10_000;
  const events = await whenPut(made, 6);
  const [beat, ...others] = events.filter(({ eventType }) => eventType === 'Task Heartbeat');
  expect(others).toEqual([]);
  expect(beat).toMatchObject({
    context: { workerId: 'w', origin: 'worker' },
    properties: { jobId: flow.id, requestId: job.node, effectiveUntil: until, elapsedMs: 4_000 },
  });
  const [update] = events.filter(({ eventType }) => eventType === 'Task Updated');
  expect(update!.properties).toMatchObject({ jobId: flow.id, update: { message: 'half', progress: 0.5 } });
});

/** Stands in front of EventBridge and refuses entries, as that does when it has trouble of its own. */
function refusing(codeOf: (request: number, place: number) => string | undefined) {
  const sent: string[][] = [];
  const around = (client: Client) => ({
    send: async ({ input: { Entries } }: { input: { Entries: PutEventsRequestEntry[] } }) => {
      sent.push(Entries.map(({ Detail }) => JSON.parse(Detail!).eventId));
      const codes = Entries.map((_, place) => codeOf(sent.length, place));
      const taken = Entries.filter((_, place) => codes[place] === undefined);
      if (taken.length > 0) await client.send(new PutEventsCommand({ Entries: taken }));
      const answers = codes.map((code) => (code === undefined ? { EventId: 'e' } : { ErrorCode: code }));
      return { FailedEntryCount: Entries.length - taken.length, Entries: answers };
    },
  });
  return { sent, around: around as unknown as (client: Client) => Client };
}

const failing = (name: string) => {
  let calls = 0;
  const send = async () => {
    calls += 1;
    throw Object.assign(new Error('no'), { name });
  };
  return { around: () => ({ send }) as unknown as Client, calls: () => calls };
};

async function logOf({ waybill, enqueue }: BusBench, jobs: number) {
  for (let at = 0; at < jobs; at += 1) await enqueue();
  return (await waybill.events.read({ limit: 100 })).events;
}

/** Passes the time of the test's clock until the work has ended. */
async function ended<T>({ clock }: BusBench, work: Promise<T>): Promise<unknown> {
  let isOver = false;
  const result = work
    .catch((error: unknown) => error)
    .finally(() => {
      isOver = true;
    });
  while (!isOver) await clock.advance(100);
  return result;
}

test('of a request with failed entries only those are sent again', async () => {
  const { sent, around } = refusing((request, place) => (request === 1 && place === 1 ? 'InternalFailure' : undefined));
  const made = await busBench({ around });
  await ended(made, made.bus.publish(await logOf(made, 3)));
  expect(made.events()).toHaveLength(3);
  expect(sent[0]).toHaveLength(3);
  expect(sent.slice(1)).toEqual([[sent[0]![1]]]);
});

test('what EventBridge will never take fails at once, and the others of its request do not', async () => {
  const { sent, around } = refusing((_, place) => (place === 0 ? 'MalformedDetail' : undefined));
  const made = await busBench({ around });
  const failure = await ended(made, made.bus.publish(await logOf(made, 2)));
  expect(String(failure)).toContain('MalformedDetail');
  expect(made.events()).toHaveLength(1);
  expect(sent).toHaveLength(1);
});

test('a throttled request is tried again with pauses until its time is over; then the sink rests', async () => {
  const { around, calls } = failing('ThrottlingException');
  const made = await busBench({ around });
  const failure = await ended(made, made.bus.publish(await logOf(made, 1)));
  expect(failure).toBeInstanceOf(SinkRefusal);
  expect(failure).toMatchObject({ retryAfterMs: 1_000 });
  // After 0.1 s, 0.2 s, .. 2 s, within the 6 s that leave time for a last request.
  expect(calls()).toBe(7);
});

test.each([
  ['TimeoutError', 'unavailable'],
  ['AccessDeniedException', 'forbidden'],
])('a failure %s is told as %s, and not repeated at once', async (name, code) => {
  const { around, calls } = failing(name);
  const made = await busBench({ around });
  expect(await ended(made, made.bus.publish(await logOf(made, 1)))).toMatchObject({ code });
  expect(calls()).toBe(1);
});

async function folder(): Promise<BlobStore> {
  const { blobs, remove } = await temporaryBlobs();
  onTestFinished(remove);
  return blobs;
}

test('a delivery under way ends when this server may not deliver any more', async () => {
  const silent = { send: () => new Promise(() => {}) } as unknown as Client;
  const made = await busBench({ around: () => silent });
  const [event] = await logOf(made, 1);
  const stop = new AbortController();
  const delivery = made.bus.sink.deliver({ id: 'e', event: event!, attempt: 1 }, stop.signal);
  stop.abort();
  await expect(delivery).rejects.toThrow('aborted');
});

test('the output of an event over 200 KB is in the blob store, and comes back', async () => {
  const blobs = await folder();
  const made = await busBench({ blobs: { store: blobs, bucket: 'results' } });
  const id = await made.enqueue();
  const output = 'ü'.repeat(150_000);
  await work(made, { kind: 'completed', result: output });
  const { events } = await made.waybill.events.read({ limit: 10, filter: { types: ['job.completed'] } });
  await made.bus.publish(events);
  const [event] = made.events();
  expect(event!.properties['output']).toBeUndefined();
  const key = `events/${id}/evt_${id}_server_3-payload.json`;
  expect(event!.properties[OVERFLOW]).toEqual({ bucket: 'results', key });
  expect((await inflated(event!, blobs)).properties).toMatchObject({ output, requestId: id });
  await blobs.deletePrefix('events/');
  expect(await inflated(event!, blobs)).toEqual(event);
});

test('a forged reference leads to no other blob', async () => {
  const blobs = await folder();
  await blobs.put('jobs/secret', Buffer.from('{"secret":1}'));
  const made = await busBench();
  await made.enqueue();
  await made.bus.publish((await made.waybill.events.read({ limit: 10 })).events);
  const [event] = made.events();
  const forged = { ...event!, properties: { ...event!.properties, [OVERFLOW]: { key: 'jobs/secret' } } };
  expect(await inflated(forged, blobs)).toEqual(forged);
});

test('without a blob store the event says what it lacks', async () => {
  const made = await busBench();
  await made.enqueue();
  await work(made, { kind: 'completed', result: 'x'.repeat(300_000) });
  const { events } = await made.waybill.events.read({ limit: 10, filter: { types: ['job.completed'] } });
  await made.bus.publish(events);
  expect(made.events()[0]!.properties).toMatchObject({ [OMITTED]: ['output'], exitCode: 0 });
});

test('names that no bus and no application has are refused', async () => {
  await expect(busBench({ app: 'a b' })).rejects.toMatchObject({ code: 'invalid_request' });
  await expect(busBench({ bus: '' })).rejects.toMatchObject({ code: 'invalid_request' });
});
