import { expect, onTestFinished, test } from 'vitest';
import type { App, Bindings } from '../http/env.ts';
import { harness } from '../testing/harness.ts';

interface Message {
  id?: string;
  event?: string;
  data?: { subject: string; cursor: string };
}

/** Opens a stream and answers its messages one by one; comments are counted, not answered. */
async function open(app: App, path: string, headers: Record<string, string> = {}, env: Bindings = {}) {
  const response = await app.request(path, { headers: { Accept: 'text/event-stream', ...headers } }, env);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader.cancel().catch(() => {}));
  const seen = { comments: 0 };
  let text = '';
  /** The next message with data, or null at the end. */
  const next = async (): Promise<Message | null> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end < 0) {
        const { done, value } = await reader.read();
        if (done) return null;
        text += value;
        continue;
      }
      const message = parse(text.slice(0, end));
      text = text.slice(end + 2);
      if (message === undefined) seen.comments += 1;
      else if (message.data && message.event !== 'place') return message;
    }
  };
  return { response, next, seen, cancel: () => reader.cancel() };
}

function parse(block: string): Message | undefined {
  if (block.startsWith(':')) return undefined;
  const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)));
  return { ...fields, ...(fields.data && { data: JSON.parse(fields.data) }) };
}

test('a stream gives history first, then what happens live', async () => {
  const { app, enqueued } = harness();
  const before = [(await enqueued()).id, (await enqueued()).id];
  const { response, next } = await open(app, '/ojs/v1/events');
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  expect(response.headers.get('ojs-version')).toBe('1.0');
  expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  const [first, second] = [await next(), await next()];
  expect([first?.data?.subject, second?.data?.subject]).toEqual(before);
  expect(first).toMatchObject({ event: 'job.enqueued', id: first?.data?.cursor });
  const waiting = next();
  const { id } = await enqueued();
  expect((await waiting)?.data?.subject).toBe(id);
});

test('Last-Event-ID resumes right behind the last event seen and beats the address', async () => {
  const { app, enqueued } = harness();
  const ids = [(await enqueued()).id, (await enqueued()).id, (await enqueued()).id];
  const first = await open(app, '/ojs/v1/events?from=start');
  const seen = await first.next();
  await first.cancel();
  const { next } = await open(app, '/ojs/v1/events?from=start', { 'Last-Event-ID': seen!.id! });
  expect([(await next())?.data?.subject, (await next())?.data?.subject]).toEqual(ids.slice(1));
});

test('a stream from now on tells where it began, so that a reconnect misses nothing', async () => {
  const { app, enqueued, waybill } = harness();
  await enqueued();
  const response = await app.request('/ojs/v1/events?from=now', { headers: { Accept: 'text/event-stream' } });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  onTestFinished(() => reader.cancel());
  expect((await reader.read()).value).toBe(`id: ${await waybill.events.end()}\nevent: place\ndata: {}\n\n`);
});

test('filters apply to history and live events alike', async () => {
  const { app, enqueued } = harness();
  await enqueued({ queue: 'a' });
  const wanted = [(await enqueued({ queue: 'b' })).id];
  const { next } = await open(app, '/ojs/v1/events?queues=b');
  const got = [(await next())?.data?.subject];
  const waiting = next();
  await enqueued({ queue: 'a' });
  wanted.push((await enqueued({ queue: 'b' })).id);
  got.push((await waiting)?.data?.subject);
  expect(got).toEqual(wanted);
});

test('an idle stream shows signs of life', async () => {
  const { app, clock, enqueued } = harness({ streamHeartbeatMs: 5_000 });
  const { next, seen } = await open(app, '/ojs/v1/events');
  const waiting = next();
  await expect.poll(() => clock.advance(5_000).then(() => seen.comments)).toBeGreaterThan(3);
  const { id } = await enqueued();
  expect((await waiting)?.data?.subject).toBe(id);
});

test('the stream ends when the server closes', async () => {
  const { app, clock } = harness({ maintenance: false });
  const closing = new AbortController();
  const { next } = await open(app, '/ojs/v1/events', {}, { closing: closing.signal });
  const waiting = next();
  await clock.whenSleeping();
  closing.abort();
  expect(await waiting).toBeNull();
  await expect.poll(() => clock.sleepers).toBe(0);
});

test('a client that hangs up leaves nothing running', async () => {
  const { app, clock } = harness({ maintenance: false });
  const { next, cancel } = await open(app, '/ojs/v1/events');
  next().catch(() => {});
  await clock.whenSleeping();
  await cancel();
  await expect.poll(() => clock.sleepers).toBe(0);
});

test('a log that breaks ends the stream, is logged, and says nothing to the client', async () => {
  const { app, waybill, log } = harness();
  waybill.events.follow = async function* () {
    yield* [];
    throw new Error('password=hunter2');
  };
  const { next } = await open(app, '/ojs/v1/events');
  expect(await next()).toBeNull();
  expect(log.map(({ level }) => level)).toEqual(['error']);
});

test('a cursor that is none is refused before the stream begins', async () => {
  const { app } = harness();
  const { response } = await open(app, '/ojs/v1/events', { 'Last-Event-ID': 'nonsense' });
  expect(response.status).toBe(400);
});

test('a stream that ends, whoever ends it, leaves no follower behind', async () => {
  const { app, clock, enqueued, fetched, post } = harness({ maintenance: false });
  const { id } = await enqueued();
  const { lease_token } = await fetched();
  // One that ends by its last event, one whose reader hangs up while more is waiting for it.
  const own = await open(app, `/ojs/v1/jobs/${id}/progress/stream`);
  const slow = await app.request('/ojs/v1/events', { headers: { Accept: 'text/event-stream' } });
  await clock.whenSleeping(1);
  for (let count = 0; count < 5; count += 1) await enqueued();
  expect((await post('/ojs/v1/workers/ack', { job_id: id, lease_token })).status).toBe(200);
  while ((await own.next()) !== null);
  await slow.body!.cancel();
  await expect.poll(() => clock.sleepers).toBe(0);
});
