import { type Client, createClient, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from '@connectrpc/connect-node';
import { SpanKind, SpanStatusCode } from '@opentelemetry/api';
import { silentLogger } from '@waybill/core';
import { JobEventsService, JobService, LogService } from '@waybill/protocol';
import { createApp, serve } from '@waybill/server';
import { instrument } from '@waybill/telemetry';
import { Recorder } from '@waybill/telemetry/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../sdk/connect.ts';

const JOBS = 'waybill.v1.JobService';
const EVENTS = 'waybill.v1.JobEventsService';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const TRACE = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` };
const TRACE_ID = 'a'.repeat(32);

interface Clients {
  jobs: Client<typeof JobService>;
  events: Client<typeof JobEventsService>;
  log: Client<typeof LogService>;
}

const clientsOf = (transport: Transport): Clients => ({
  jobs: createClient(JobService, transport),
  events: createClient(JobEventsService, transport),
  log: createClient(LogService, transport),
});

async function served() {
  const recorder = new Recorder();
  const telemetry = instrument(recorder);
  const waybill = await connect('sqlite::memory:', { logger: silentLogger, telemetry });
  const observed = { observeRequest: telemetry.request, observeStreams: telemetry.streams };
  const app = createApp({ waybill, version: 'test', logger: silentLogger, ...observed });
  const { url, grpcUrl, close } = await serve(app, { port: 0, grpcPort: 0, graceMs: 1_000 });
  const baseUrl = grpcUrl!.replace('grpc', 'http');
  const sessionManager = new Http2SessionManager(baseUrl);
  onTestFinished(async () => {
    sessionManager.abort();
    await close();
    await waybill.close();
  });
  const transports = {
    grpc: createGrpcTransport({ baseUrl, sessionManager }),
    'gRPC-Web': createGrpcWebTransport({ baseUrl: url, httpVersion: '1.1' }),
    Connect: createConnectTransport({ baseUrl: url, httpVersion: '1.1' }),
  };
  return { recorder, waybill, url, of: (name: keyof typeof transports) => clientsOf(transports[name]) };
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

describe.each([
  ['grpc', { 'rpc.system': 'grpc' }, (number: number, _: string) => ({ 'rpc.grpc.status_code': number })],
  ['gRPC-Web', { 'rpc.system': 'grpc' }, (number: number, _: string) => ({ 'rpc.grpc.status_code': number })],
  ['Connect', { 'rpc.system': 'connect_rpc' }, (_: number, code: string) => ({ 'rpc.connect_rpc.error_code': code })],
] as const)('a call by %s', (name, system, error) => {
  test('is one span with service, method and status, in the trace of its caller', async () => {
    const { recorder, of } = await served();
    const { jobs } = of(name);
    await jobs.listJobs({}, { headers: TRACE });
    await recorder.ended(`${JOBS}/ListJobs`);
    const span = recorder.one(`${JOBS}/ListJobs`);
    expect(span.kind).toBe(SpanKind.SERVER);
    expect(span.parentSpanContext).toMatchObject({ traceId: TRACE_ID, spanId: 'b'.repeat(16) });
    expect(span.attributes).toEqual({
      ...{ ...system, 'rpc.service': JOBS, 'rpc.method': 'ListJobs', 'rpc.response.status_code': 'OK' },
      ...(name !== 'Connect' && { 'rpc.grpc.status_code': 0 }),
      ...{ 'http.request.method': 'POST', 'http.response.status_code': 200 },
    });
    await expect(jobs.getJob({ jobId: UNKNOWN })).rejects.toThrow();
    await recorder.ended(`${JOBS}/GetJob`);
    const failed = recorder.one(`${JOBS}/GetJob`);
    expect(failed.attributes).toMatchObject({ 'rpc.response.status_code': 'NOT_FOUND', ...error(5, 'not_found') });
    // A caller who asks for what is not there is no failure of the server.
    expect(failed.status.code).toBe(SpanStatusCode.UNSET);
    expect(await recorder.metric('waybill.rpc.server.duration')).toEqual({
      [`{"method":"${JOBS}/ListJobs","code":"OK"}`]: 1,
      [`{"method":"${JOBS}/GetJob","code":"NOT_FOUND"}`]: 1,
    });
  });

  test('that streams is one span until its end, and counts as open until then', async () => {
    const { recorder, waybill, of } = await served();
    const { events, jobs } = of(name);
    const { job } = await waybill.jobs.enqueue({ type: 'x', args: [] });
    const [given] = await all(jobs.dequeueJobs({ queue: 'default', maxJobs: 1 }));
    await recorder.ended(`${JOBS}/DequeueJobs`);
    expect(recorder.one(`${JOBS}/DequeueJobs`).attributes['rpc.response.status_code']).toBe('OK');

    const stream = events.streamEvents({ jobId: job.id }, { headers: TRACE })[Symbol.asyncIterator]();
    await stream.next();
    expect(recorder.named(`${EVENTS}/StreamEvents`)).toEqual([]);
    expect(await recorder.metric('waybill.streams.active')).toMatchObject({ '{"kind":"journal"}': 1 });
    await jobs.completeJob({ taskToken: given!.taskToken, result: { success: true } });
    while (!(await stream.next()).done);
    await recorder.ended(`${EVENTS}/StreamEvents`);
    const span = recorder.one(`${EVENTS}/StreamEvents`);
    expect(span.parentSpanContext?.traceId).toBe(TRACE_ID);
    expect(span.attributes).toMatchObject({ ...system, 'rpc.response.status_code': 'OK' });
    expect(await recorder.metric('waybill.streams.active')).toEqual({ '{"kind":"journal"}': 0, '{"kind":"jobs"}': 0 });
  });

  test('that its client leaves is cancelled, and one that is refused has the code of the refusal', async () => {
    const { recorder, waybill, of } = await served();
    const { log, jobs } = of(name);
    const leaving = new AbortController();
    const after = await waybill.events.end();
    await waybill.jobs.enqueue({ type: 'x', args: [] });
    const stream = log.follow({ after }, { signal: leaving.signal })[Symbol.asyncIterator]();
    await stream.next();
    leaving.abort();
    await expect(stream.next()).rejects.toThrow();
    await recorder.ended('waybill.v1.LogService/Follow');
    const left = recorder.one('waybill.v1.LogService/Follow');
    expect(left.attributes).toMatchObject({ 'rpc.response.status_code': 'CANCELLED', ...error(1, 'canceled') });
    await expect(all(jobs.dequeueJobs({ queue: 'No Queue!' }))).rejects.toThrow();
    await recorder.ended(`${JOBS}/DequeueJobs`);
    expect(recorder.one(`${JOBS}/DequeueJobs`).attributes).toMatchObject({
      ...{ 'rpc.response.status_code': 'INVALID_ARGUMENT', ...error(3, 'invalid_argument') },
    });
  });
});

test('each batch that is published by a stream is a span with its size, under that of the stream', async () => {
  const { recorder, waybill, of } = await served();
  const { events, jobs } = of('grpc');
  await waybill.jobs.enqueue({ type: 'x', args: [] });
  const [given] = await all(jobs.dequeueJobs({ queue: 'default', maxJobs: 1 }));
  const taskToken = given!.taskToken;
  const event = (sequence: number) => ({ sequence: BigInt(sequence), type: 'own' });
  const batches = async function* () {
    yield { taskToken, events: [event(1), event(2), event(3)] };
    yield { taskToken, events: [event(4)] };
  };
  await all(events.publishEvents(batches(), { headers: TRACE }));
  await recorder.ended(`${EVENTS}/PublishEvents`);
  const { spanId } = recorder.one(`${EVENTS}/PublishEvents`).spanContext();
  const published = recorder.named('publish');
  expect(published.map(({ attributes }) => attributes['messaging.batch.message_count'])).toEqual([3, 1]);
  for (const span of published) expect(span.parentSpanContext).toMatchObject({ traceId: TRACE_ID, spanId });
  expect(await recorder.metric('waybill.streams.active')).toMatchObject({ '{"kind":"publish"}': 0 });
});

test('a call without a message, in another form, or by a page that asks first has a span as well', async () => {
  const { recorder, url } = await served();
  const path = `${url}/${JOBS}/GetJob`;
  const post = (type: string) => fetch(path, { method: 'POST', headers: { 'Content-Type': type }, body: '{' });
  await post('application/json');
  await post('text/plain');
  await recorder.ended(`${JOBS}/GetJob`, 2);
  expect(recorder.named(`${JOBS}/GetJob`).map(({ attributes }) => attributes['rpc.response.status_code'])).toEqual([
    ...['INVALID_ARGUMENT', 'INVALID_ARGUMENT'],
  ]);
});
