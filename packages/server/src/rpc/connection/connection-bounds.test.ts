import { once } from 'node:events';
import { type ClientHttp2Session, connect, constants, type OutgoingHttpHeaders, type SessionOptions } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { envelope } from '../../testing/rpc-wire.ts';
import { socketServer } from '../../testing/socket-server.ts';

const CHECK = '/grpc.health.v1.Health/Check';
const HEAD = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
const CUT = { code: constants.NGHTTP2_ENHANCE_YOUR_CALM };

async function started(limits: Parameters<typeof socketServer>[0] = {}) {
  const { grpcUrl } = await socketServer({ grpcPort: 0, ...limits });
  const url = grpcUrl!.replace('grpc', 'http');
  const session = (options: SessionOptions = {}): ClientHttp2Session => {
    const client = connect(url, options);
    client.on('error', () => {});
    onTestFinished(() => client.destroy());
    return client;
  };
  return { url, session };
}

/** A call as bytes: `end` resolves with its status and with the code of its stream. */
function call(
  client: ClientHttp2Session,
  { path = CHECK, body = envelope('') as Uint8Array | null, headers = {} } = {},
) {
  const stream = client.request({ ...HEAD, ':path': path, ...(headers as OutgoingHttpHeaders) });
  let grpc: unknown;
  stream.on('trailers', (trailers) => {
    grpc = trailers['grpc-status'];
  });
  stream.on('error', () => {}).resume();
  if (body) stream.end(body);
  const end = new Promise<{ grpc: unknown; code: number | undefined }>((resolve) =>
    stream.once('close', () => resolve({ grpc, code: stream.rstCode })),
  );
  return { stream, end };
}

const OK = { grpc: '0', code: 0 };

test('a client learns how many calls and what headers a connection may have', async () => {
  const client = (await started()).session();
  await once(client, 'remoteSettings');
  expect(client.remoteSettings).toMatchObject({ maxConcurrentStreams: 256, maxHeaderListSize: 16_384 });
});

// fault: a client does not care for the size that the server has named, before and after it has confirmed it
test('headers that are too large are refused, and the connection goes on', async () => {
  const client = (await started()).session();
  for (let tries = 0; tries < 2; tries += 1) {
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`x-${n}`, 'x'.repeat(200)]));
    expect(await call(client, { headers: { 'x-large': 'x'.repeat(17_000) } }).end).toMatchObject(CUT);
    expect(await call(client, { headers: many }).end).toMatchObject(CUT);
  }
  expect(await call(client, { headers: { 'x-large': 'x'.repeat(15_000) } }).end).toMatchObject(OK);
});

// fault: a client opens calls and sends no message, or a part of one, and answers pings
test('a call whose message does not come in time is ended', async () => {
  const client = (await started({ requestTimeoutMs: 200 })).session();
  const [none, half, stream] = ['JobService/ListJobs', 'JobService/ListJobs', 'LogService/Follow'].map((method) =>
    call(client, { body: null, path: `/waybill.v1.${method}` }),
  );
  half!.stream.write(envelope('12345').subarray(0, 7));
  const ends: object[] = [];
  for (const one of [none, half, stream]) one!.end.then((end) => ends.push(end));
  await expect.poll(() => ends, { timeout: 15_000 }).toMatchObject([CUT, CUT, CUT]);
  expect(await call(client).end).toMatchObject(OK);
});

// fault: a client opens a window of no bytes, and never takes its answer
test('a call whose answer is not taken in time is ended', async () => {
  const client = (await started({ stalledTimeoutMs: 200 })).session({ settings: { initialWindowSize: 0 } });
  await once(client, 'remoteSettings');
  expect(await call(client).end).toMatchObject(CUT);
});

// fault: clients connect and say nothing, or speak HTTP/1.1
test('a connection that does not begin to speak HTTP/2 is cut off', async () => {
  const { url, session } = await started({ headersTimeoutMs: 200 });
  const client = session();
  await once(client, 'remoteSettings');
  for (const words of ['', 'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n']) {
    const socket = connectTcp(Number(new URL(url).port));
    socket.on('error', () => {}).resume();
    if (words) socket.write(words);
    await once(socket, 'close');
  }
  expect(await call(client).end).toMatchObject(OK);
});

// fault: a client opens as many connections as there may be, and leaves them idle
test('one connection too many takes the place of the longest idle one, or is refused', async () => {
  const { session } = await started({ maxConnections: 3 });
  const open = async () => {
    const client = session();
    await once(client, 'remoteSettings');
    return client;
  };
  const keepBusy = async (client: ClientHttp2Session) => {
    // Its message does not come. The server has seen it once it has answered what was sent behind it.
    client.request({ ...HEAD, ':path': '/waybill.v1.JobService/ListJobs' }).on('error', () => {});
    await new Promise((resolve) => client.ping(resolve));
  };
  const [busy, idle, later] = [await open(), await open(), await open()];
  await keepBusy(busy);
  const closed = once(idle, 'close');
  const fourth = await open();
  await closed;
  expect(await call(later).end).toMatchObject(OK);
  expect(await call(fourth).end).toMatchObject(OK);
  expect(busy.closed).toBe(false);
  for (const client of [later, fourth]) await keepBusy(client);
  const refused = session();
  await once(refused, 'close');
  for (const client of [busy, later, fourth]) expect(client.closed).toBe(false);
});
