import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { health } from '@waybill/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { harness } from '../../testing/harness.ts';
import { RawClient } from '../../testing/raw-client.ts';
import { grpcClients } from '../../testing/rpc-clients.ts';
import { envelope, hasEnvelopes, sendWire } from '../../testing/rpc-wire.ts';
import { socketServer } from '../../testing/socket-server.ts';

const { check, watch } = health.Health.method;
const LARGE = Buffer.alloc(1_025, 'x');

// fault: a caller without a key sends more than the name of a service
test.each(['connect', 'grpc-web', 'grpc'] as const)(
  'a message to Health has at most 1 KiB, by %s',
  async (protocol) => {
    const { app } = harness({ maintenance: false });
    for (const method of [check, watch]) {
      const body = hasEnvelopes({ protocol, method }) ? envelope(LARGE) : LARGE;
      expect(await sendWire(app, { protocol, method, body })).toMatchObject({
        ...{ status: 'RESOURCE_EXHAUSTED', code: 'payload_too_large' },
        message: expect.stringContaining('may have 1024 bytes'),
      });
    }
  },
);

test('a store that hangs is NOT_SERVING in less than two seconds, and callers ask it together', async () => {
  const { app, waybill, clock } = harness({ maintenance: false });
  let asked = 0;
  waybill.health = () => {
    asked += 1;
    return new Promise(() => {});
  };
  const { NOT_SERVING } = health.HealthCheckResponse_ServingStatus;
  const body = Buffer.from('{}');
  const calls = Array.from({ length: 20 }, () =>
    sendWire(app, { protocol: 'connect', method: check, isJson: true, body }),
  );
  await expect.poll(() => asked).toBe(1);
  await clock.advance(2_000);
  for (const { messages } of await Promise.all(calls))
    expect(JSON.parse(String(messages[0]))).toEqual({ status: health.HealthCheckResponse_ServingStatus[NOT_SERVING] });
  expect(asked).toBe(1);
});

const REQUEST = [
  ...['POST /grpc.health.v1.Health/Check HTTP/1.1', 'Host: localhost', 'Content-Type: application/json'],
  ...['Content-Length: 100', '', '{'],
].join('\r\n');

// fault: callers without a key begin a message and do not end it
test('a call whose message does not come is cut off after two seconds, on both ports', async () => {
  const { url, grpcUrl } = await socketServer({ grpcPort: 0 });
  const slow = await RawClient.connect(url);
  slow.send(REQUEST);
  const session: ClientHttp2Session = connect(grpcUrl!.replace('grpc', 'http'));
  onTestFinished(() => session.destroy());
  const halves = [check, watch].map(({ name }) => {
    const head = { ':method': 'POST', ':path': `/grpc.health.v1.Health/${name}`, 'content-type': 'application/grpc' };
    const half = session.request({ ...head, te: 'trailers' });
    half.on('error', () => {}).resume();
    half.write(envelope('12345').subarray(0, 7));
    return half;
  });
  let ended = 0;
  const end = () => {
    ended += 1;
  };
  void slow.closed.then(end);
  for (const half of halves) half.once('close', end);
  await expect.poll(() => ended, { timeout: 15_000 }).toBe(1 + halves.length);
  for (const { rstCode } of halves) expect(rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  const { status } = await grpcClients(grpcUrl!).of(health.Health).check({});
  expect(status).toBe(health.HealthCheckResponse_ServingStatus.SERVING);
});
