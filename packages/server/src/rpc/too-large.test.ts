import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { toListValue } from '@waybill/client/rpc';
import { JobEventsService, JobService, LogService, PublishEventsRequestSchema } from '@waybill/protocol';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Flooded, floodHttp1, floodHttp2 } from '../testing/flood.ts';
import { harness } from '../testing/harness.ts';
import { grpcClients } from '../testing/rpc-clients.ts';
import { contentTypeOf, envelope, hasEnvelopes, sendWire, type WireCall } from '../testing/rpc-wire.ts';
import { type SocketServer, socketServer } from '../testing/socket-server.ts';

const MB = 1_024 * 1_024;
const LARGE = 100 * MB;
/** What sockets and streams of both sides may hold: far less than a message. */
const BUFFERED = 24 * MB;
const LIMIT = MB;

const ENQUEUE = JobService.method.enqueueJob;
const FOLLOW = LogService.method.follow;
const PUBLISH = JobEventsService.method.publishEvents;
const HALF = Buffer.alloc(LIMIT / 2);
const OK = { status: 'OK' };
const REFUSED = { status: 'RESOURCE_EXHAUSTED', code: 'payload_too_large' };
const pathOf = ({ method }: Omit<WireCall, 'body'>) => `/${method.parent.typeName}/${method.name}`;

/** The head of a message that is as long as it says. */
function headOf(length: number): Uint8Array {
  const head = new Uint8Array(5);
  new DataView(head.buffer).setUint32(1, length);
  return head;
}

async function flooded(
  { url, grpcUrl }: SocketServer,
  call: Omit<WireCall, 'body'>,
  { first = headOf(LARGE), length = {} as Record<string, string> } = {},
): Promise<Flooded> {
  const headers = { 'content-type': contentTypeOf({ ...call, body: first }), ...length };
  const flood = { call, headers, first, bytes: LARGE };
  if (call.protocol !== 'grpc') return floodHttp1(`${url}${pathOf(call)}`, flood);
  const client = connect(grpcUrl!.replace('grpc', 'http'));
  onTestFinished(() => client.destroy());
  const answer = await floodHttp2(client, pathOf(call), flood);
  // Else a client would go on sending into a call that is over.
  expect(answer.isClosed).toBe(true);
  // What was not read must not use up what may be under way on the connection.
  const method = JobService.method.listJobs;
  for (let calls = 0; calls < 3; calls += 1) {
    const next = { ...flood, call: { ...call, method }, first: Buffer.concat([headOf(LIMIT / 2), HALF]), bytes: 0 };
    expect(await floodHttp2(client, pathOf(next.call), next)).toMatchObject({ status: 'INVALID_ARGUMENT' });
  }
  expect(await floodHttp2(client, pathOf({ ...call, method }), { ...flood, first: headOf(0), bytes: 0 })).toMatchObject(
    OK,
  );
  return answer;
}

async function served() {
  const server = await socketServer({ grpcPort: 0 }, { maxBodyBytes: LIMIT });
  const goesOn = async () => {
    const { created } = await grpcClients(server.grpcUrl!).jobs.enqueueJob({ type: 'x', args: toListValue([]) });
    expect(created).toBe(true);
  };
  return { server, goesOn };
}

describe.each([
  ['Connect, unary, with its length', { protocol: 'connect', method: ENQUEUE }, { 'content-length': String(LARGE) }],
  ['Connect, unary, in chunks', { protocol: 'connect', method: ENQUEUE }, {}],
  ['Connect, a stream', { protocol: 'connect', method: FOLLOW }, {}],
  ['gRPC-Web, unary', { protocol: 'grpc-web', method: ENQUEUE }, {}],
  ['gRPC-Web, a stream', { protocol: 'grpc-web', method: FOLLOW }, {}],
  ['gRPC, unary', { protocol: 'grpc', method: ENQUEUE }, {}],
  ['gRPC, a stream', { protocol: 'grpc', method: FOLLOW }, {}],
  ['gRPC, a stream in both directions', { protocol: 'grpc', method: PUBLISH }, {}],
] as const)('%s', (_, call, length) => {
  // fault: a message of 100 MB
  test('a message of 100 MB is refused while most of it is not read, and the server goes on', async () => {
    const { server, goesOn } = await served();
    const end = await flooded(server, call, { length });
    expect(end).toMatchObject({ ...REFUSED, message: expect.stringContaining(`may have ${LIMIT} bytes`) });
    expect(end.handedOver).toBeLessThan(BUFFERED);
    expect(end.grownBytes).toBeLessThan(2 * BUFFERED);
    await goesOn();
  });

  // fault: a few bytes that say to be a message of 4 GB
  test('a length of 4 GB is refused, and nothing is set aside for it', async () => {
    if (!hasEnvelopes(call)) return;
    const { server, goesOn } = await served();
    const end = await flooded(server, call, { first: headOf(2 ** 32 - 1) });
    expect(end).toMatchObject({ ...REFUSED, message: expect.stringContaining(`has ${2 ** 32 - 1}`) });
    expect(end.grownBytes).toBeLessThan(2 * BUFFERED);
    await goesOn();
  });
});

const BOMB = gzipSync(Buffer.alloc(LARGE), { level: 1 });

// fault: half a megabyte that unpacks to 100 MB
test.each([
  ...(['connect', 'grpc-web', 'grpc'] as const).flatMap((protocol) => [
    { protocol, method: ENQUEUE, name: ENQUEUE.name },
    { protocol, method: FOLLOW, name: FOLLOW.name },
    { protocol, method: PUBLISH, name: PUBLISH.name },
  ]),
])('a small message that unpacks to 100 MB is refused ($name by $protocol)', async ({ protocol, method }) => {
  const { app } = harness({ maintenance: false, maxBodyBytes: LIMIT });
  expect(BOMB.length).toBeLessThan(LIMIT);
  const isFramed = hasEnvelopes({ protocol, method });
  const name = isFramed ? (protocol === 'connect' ? 'connect-content-encoding' : 'grpc-encoding') : 'content-encoding';
  const before = process.memoryUsage().rss;
  const end = await sendWire(app, {
    ...{ protocol, method, headers: { [name]: 'gzip' }, body: isFramed ? envelope(BOMB, 1) : BOMB },
  });
  expect(end).toMatchObject({ ...REFUSED, message: expect.stringContaining('Compressed ones count unpacked') });
  expect(process.memoryUsage().rss - before).toBeLessThan(LARGE);
});

// fault: a good message, and then one of 100 MB
test('a stream that was fine ends with the large message, and what the server has acknowledged is stored', async () => {
  const { server, goesOn } = await served();
  const { waybill } = server;
  const { job } = await waybill.jobs.enqueue({ type: 'x', args: [], options: { queue: 'q' } });
  const { jobs } = grpcClients(server.grpcUrl!);
  let taskToken = '';
  for await (const given of jobs.dequeueJobs({ queue: 'q', maxJobs: 1 })) taskToken = given.taskToken;
  const good = create(PublishEventsRequestSchema, { taskToken, events: [{ sequence: 1n, type: 'own' }] });
  const first = Buffer.concat([envelope(toBinary(PublishEventsRequestSchema, good)), headOf(LARGE)]);
  const end = await flooded(server, { protocol: 'grpc', method: PUBLISH }, { first });
  expect(end).toMatchObject(REFUSED);
  expect(end.handedOver).toBeLessThan(BUFFERED);
  // Two messages that arrive at once are read at once: then neither is taken.
  expect((await waybill.jobs.journal(job.id)).entries).toHaveLength(end.messages.length);
  await goesOn();
});
