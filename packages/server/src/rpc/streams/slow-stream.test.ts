import { connect, constants } from 'node:http2';
import { JobEventsService } from '@waybill/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { serve } from '../../serve.ts';
import type { StreamObserver } from '../../stream/observer.ts';
import { harness } from '../../testing/harness.ts';
import { endOf, envelope } from '../../testing/rpc-wire.ts';

const PATH = '/waybill.v1.JobEventsService/StreamEvents';
const COUNT = 100;

/** A job that has said a megabyte, and what the server tells of its streams. */
async function talkative() {
  const facts: string[] = [];
  const note = (what: string) => (stream: { kind: string }) => void facts.push(`${what} ${stream.kind}`);
  const observeStreams: StreamObserver = { opened: note('opened'), closed: note('closed'), cutOff: note('cut') };
  const made = harness({ maintenance: false, observeStreams, slowReaderMs: 1_000 });
  const { job } = await made.waybill.jobs.enqueue({ type: 'x', args: [] });
  const [lease] = await made.waybill.jobs.claim({ queues: ['default'] });
  const entries = Array.from({ length: COUNT }, (_, n) => ({
    ...{ sequence: n + 1, type: 'output', output: Buffer.alloc(10_000, 'x') },
  }));
  await made.waybill.jobs.append({ id: job.id, leaseToken: lease!.token, entries });
  return { ...made, facts, request: envelope(JSON.stringify({ jobId: job.id })) };
}

// fault: a client that answers pings and never reads its stream
test('the reader of a journal that takes nothing is cut off, and its connection goes on', async () => {
  const { app, clock, facts, request } = await talkative();
  const { grpcUrl, close } = await serve(app, { port: 0, grpcPort: 0, graceMs: 1_000 });
  const client = connect(grpcUrl!.replace('grpc', 'http'));
  onTestFinished(async () => {
    client.destroy();
    await close();
  });
  const head = { ':method': 'POST', 'content-type': 'application/grpc+json', te: 'trailers' };
  const stuck = client.request({ ...head, ':path': PATH });
  stuck.on('error', () => {}).pause();
  const closed = new Promise((resolve) => stuck.once('close', resolve));
  stuck.end(request);
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return facts;
    })
    .toEqual(['opened journal', 'cut journal', 'closed journal']);
  stuck.resume();
  await closed;
  expect(stuck.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const next = client.request({ ...head, ':path': '/waybill.v1.JobService/ListJobs' });
  const trailers = new Promise<object>((resolve) => next.once('trailers', resolve));
  next.resume().end(envelope('{}'));
  expect(await trailers).toMatchObject({ 'grpc-status': '0' });
});

// fault: a client that stops reading after the first message
test('where the connection cannot be cut, the stream ends with an error and not as if the job had', async () => {
  const { app, clock, facts, request } = await talkative();
  const headers = { 'Content-Type': 'application/connect+json' };
  const answer = await app.request(PATH, { method: 'POST', headers, body: request });
  const reader = answer.body!.getReader();
  const chunks = [(await reader.read()).value!];
  // Suspended between two messages until the reader asks for the next one.
  await expect
    .poll(async () => {
      await clock.advance(1_000);
      return facts;
    })
    .toEqual(['opened journal', 'cut journal']);
  for (let next = await reader.read(); !next.done; next = await reader.read()) chunks.push(next.value);
  const call = { protocol: 'connect', method: JobEventsService.method.streamEvents, body: request } as const;
  const end = endOf(call, { status: 200, header: answer.headers, bytes: Buffer.concat(chunks) });
  expect(end).toMatchObject({ status: 'UNAVAILABLE', message: expect.stringContaining('took nothing for 1 seconds') });
  expect(end.messages.length).toBeLessThan(COUNT);
  expect(facts.at(-1)).toBe('closed journal');
});

test('a reader that takes all stays, however long nothing is said', async () => {
  const { app, clock, facts, request } = await talkative();
  const headers = { 'Content-Type': 'application/connect+json' };
  const leaving = new AbortController();
  const answer = await app.request(PATH, { method: 'POST', headers, body: request, signal: leaving.signal });
  const reader = answer.body!.getReader();
  let seen = 0;
  const reading = (async () => {
    for (let next = await reader.read(); !next.done; next = await reader.read()) seen += 1;
  })();
  await expect.poll(() => seen).toBeGreaterThanOrEqual(COUNT);
  for (let passed = 0; passed < 5; passed += 1) await clock.advance(10_000);
  expect(facts).toEqual(['opened journal']);
  leaving.abort();
  await reading;
  await expect.poll(() => facts).toEqual(['opened journal', 'closed journal']);
});
