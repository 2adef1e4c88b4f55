import { connect, type IncomingHttpHeaders } from 'node:http2';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import { ERROR_TABLE } from '@waybill/client';
import { toListValue } from '@waybill/client/rpc';
import { ErrorInfoSchema, health, type JobState, reflection } from '@waybill/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { grpcClients } from '../testing/rpc-clients.ts';
import { socketServer } from '../testing/socket-server.ts';
import { logInternal, toConnectError } from './errors.ts';

const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => expect.unreachable('It was not refused.'),
    (reason: unknown) => ConnectError.from(reason),
  );
  return { code: error.code, info: error.findDetails(ErrorInfoSchema)[0], header: error.metadata.get('waybill-code') };
};

const UNKNOWN = '01890000-0000-7000-8000-000000000000';

test('an error tells the code of the protocol, and in its details everything that HTTP tells', async () => {
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 });
  const { jobs, workers, events } = grpcClients(grpcUrl!);
  const { job } = await waybill.jobs.enqueue({ type: 'x', args: [] });
  const [lease] = await waybill.jobs.claim({ queues: ['default'] });
  const leaseToken = `${lease!.token}0`;

  expect(await refusal(jobs.getJob({ jobId: UNKNOWN }))).toMatchObject({
    code: Code.NotFound,
    header: 'not_found',
    info: { code: 'not_found', retryable: false, hint: expect.stringContaining('Check the id') },
  });
  const token = await refusal(jobs.updateJobVisibility({ taskToken: 'made-up' }));
  expect(token).toMatchObject({ code: Code.InvalidArgument, info: { details: { field: 'task_token' } } });
  const outcome = { kind: { case: 'completed' as const, value: {} } };
  const lost = await refusal(workers.settle({ jobId: job.id, leaseToken, outcome }));
  expect(lost).toMatchObject({ code: Code.Aborted, info: { code: 'lease_lost' } });
  expect(await refusal(jobs.retryJob({ jobId: job.id }))).toMatchObject({ code: Code.FailedPrecondition });
  const queue = await refusal(jobs.enqueueJob({ type: 'x', queue: 'No Queue!', args: toListValue([]) }));
  expect(queue.code).toBe(Code.InvalidArgument);
  const twice = { type: 'x', args: toListValue([]), jobId: job.id };
  expect(await refusal(jobs.enqueueJob(twice))).toMatchObject({
    code: Code.AlreadyExists,
    info: { code: 'duplicate' },
  });
  const state = await refusal(jobs.listJobs({ state: 77 as JobState }));
  expect(state).toMatchObject({ code: Code.InvalidArgument, info: { details: { field: 'state' } } });
  const strange = { sequence: 1n, payload: { case: 'output' as const, value: { stream: 9 as never } } };
  const output = await refusal(events.appendEvents({ jobId: job.id, events: [strange] }));
  expect(output).toMatchObject({ code: Code.InvalidArgument });
});

test('every error of the catalogue has a code of the protocol', () => {
  for (const { rpc } of Object.values(ERROR_TABLE)) expect(Code[rpc]).toBeTypeOf('number');
});

test('an expired deadline ends the work: a long poll takes no job any more', async () => {
  const { grpcUrl, waybill } = await socketServer({ grpcPort: 0 });
  const { workers, jobs } = grpcClients(grpcUrl!);
  const claim = workers.claim({ queues: ['default'], wait: { seconds: 30n } }, { timeoutMs: 20 });
  expect((await refusal(claim)).code).toBe(Code.DeadlineExceeded);
  await jobs.listJobs({});
  const { job } = await waybill.jobs.enqueue({ type: 'x', args: [] });
  const [lease] = await waybill.jobs.claim({ queues: ['default'], waitMs: 30_000 });
  expect(lease!.job.id).toBe(job.id);
});

test('a message over the limit of the server is refused, and the connection goes on', async () => {
  const { grpcUrl, url } = await socketServer({ grpcPort: 0 }, { maxBodyBytes: 10_000 });
  const { jobs } = grpcClients(grpcUrl!);
  const large = jobs.enqueueJob({ type: 'x', args: toListValue(['x'.repeat(20_000)]) });
  expect((await refusal(large)).code).toBe(Code.ResourceExhausted);
  expect(await jobs.enqueueJob({ type: 'x', args: toListValue([]) })).toMatchObject({ created: true });
  const body = JSON.stringify({ type: 'x', args: ['x'.repeat(20_000)] });
  const answer = await fetch(`${url}/waybill.v1.JobService/EnqueueJob`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body,
  });
  expect(await answer.json()).toMatchObject({ code: 'resource_exhausted' });
});

test('bytes that are no message are the fault of the caller', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0 });
  const client = connect(grpcUrl!.replace('grpc', 'http'));
  onTestFinished(() => client.destroy());
  const head = {
    ':method': 'POST',
    ':path': '/waybill.v1.JobService/GetJob',
    'content-type': 'application/grpc+proto',
  };
  const stream = client.request({ ...head, te: 'trailers' });
  stream.end(Buffer.from([0, 0, 0, 0, 3, 0x0a, 0xff, 0x01]));
  stream.resume();
  const trailers = await new Promise<IncomingHttpHeaders>((resolve, reject) => {
    stream.once('trailers', resolve);
    stream.once('response', (headers) => 'grpc-status' in headers && resolve(headers));
    stream.once('error', reject);
  });
  expect(trailers['grpc-status']).toBe(String(Code.InvalidArgument));
});

test('a call in the wrong form is told what to send', async () => {
  const { raw } = harness();
  const post = { method: 'POST', body: '{}' };
  const path = '/waybill.v1.JobService/EnqueueJob';
  const form = await raw('POST', path, { ...post, headers: { 'Content-Type': 'application/x-www-form-urlencoded' } });
  expect(form).toMatchObject({ status: 415, body: { error: { hint: expect.stringContaining('application/json') } } });
  expect(await raw('PUT', path, { headers: { 'Content-Type': 'application/json' } })).toMatchObject({ status: 405 });
});

test('health is told to anybody, also service by service; an unknown one is not found', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0 });
  const client = grpcClients(grpcUrl!).of(health.Health);
  const SERVING = health.HealthCheckResponse_ServingStatus.SERVING;
  expect(await client.check({})).toMatchObject({ status: SERVING });
  expect(await client.check({ service: 'waybill.v1.JobService' })).toMatchObject({ status: SERVING });
  expect((await refusal(client.check({ service: 'nope' }))).code).toBe(Code.NotFound);
  for await (const { status } of client.watch({})) {
    expect(status).toBe(SERVING);
    break;
  }
});

test('reflection tells which services there are, and what it does not know', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0 });
  const transport = createGrpcTransport({ baseUrl: grpcUrl!.replace('grpc', 'http') });
  const client = createClient(reflection.ServerReflection, transport);
  const asked = async function* () {
    yield { messageRequest: { case: 'listServices' as const, value: '' } };
    yield { messageRequest: { case: 'fileContainingSymbol' as const, value: 'waybill.v1.Job' } };
    yield { messageRequest: { case: 'fileContainingSymbol' as const, value: 'waybill.v1.ErrorInfo' } };
    yield { messageRequest: { case: 'fileByFilename' as const, value: 'none.proto' } };
  };
  const told: (string | undefined)[] = [];
  for await (const { messageResponse } of client.serverReflectionInfo(asked())) told.push(messageResponse.case);
  expect(told).toEqual(['listServicesResponse', 'fileDescriptorResponse', 'fileDescriptorResponse', 'errorResponse']);
});

// fault: the client dies in the middle of a call
test('a client that hangs up is cancelled, and the log says nothing of it', () => {
  const { log, logger } = recorded();
  const call = { c: new Map() } as never;
  const gone = Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  logInternal(logger, gone, call);
  expect(log).toEqual([]);
  expect(toConnectError(gone, call).code).toBe(Code.Canceled);
});

function recorded() {
  const log: string[] = [];
  const note = (_: object, message: string) => void log.push(message);
  return { log, logger: { debug: note, info: note, warn: note, error: note } };
}
