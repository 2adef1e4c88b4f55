import { connect } from 'node:http2';
import { Code } from '@connectrpc/connect';
import { health } from '@waybill/protocol';
import { expect, onTestFinished, test } from 'vitest';
import { grpcClients } from '../../testing/rpc-clients.ts';
import { envelope } from '../../testing/rpc-wire.ts';
import { socketServer } from '../../testing/socket-server.ts';
import { HealthWatchers, WATCHER_LIMITS } from './health-watchers.ts';

const FULL = { code: 'resource_exhausted' };
const HEAD = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };

/** Opens calls of Watch on one connection. Each resolves with its first byte, or with the status of its refusal. */
function connection(grpcUrl: string) {
  const client = connect(grpcUrl.replace('grpc', 'http'));
  onTestFinished(() => client.destroy());
  const watch = () => {
    const stream = client.request({ ...HEAD, ':path': '/grpc.health.v1.Health/Watch' });
    const answer = new Promise<string>((resolve, reject) => {
      stream.once('data', () => resolve('watching'));
      stream.once('response', (headers) => 'grpc-status' in headers && resolve(String(headers['grpc-status'])));
      stream.once('trailers', (trailers) => resolve(String(trailers['grpc-status'])));
      stream.once('error', reject);
    });
    stream.end(envelope(''));
    return { answer, close: () => stream.close() };
  };
  return { watch };
}

// fault: a caller without a key opens one call of Watch after the other
test('watchers of one connection are bounded; other connections and Check go on', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0 });
  const one = connection(grpcUrl!);
  const open = Array.from({ length: WATCHER_LIMITS.perConnection }, () => one.watch());
  expect(new Set(await Promise.all(open.map(({ answer }) => answer)))).toEqual(new Set(['watching']));
  expect(await one.watch().answer).toBe(String(Code.ResourceExhausted));
  const client = grpcClients(grpcUrl!).of(health.Health);
  const { SERVING } = health.HealthCheckResponse_ServingStatus;
  expect(await client.check({})).toMatchObject({ status: SERVING });
  expect(await connection(grpcUrl!).watch().answer).toBe('watching');
  open[0]!.close();
  await expect.poll(() => one.watch().answer).toBe('watching');
});

test('watchers of a server are bounded, and one that has left makes room', () => {
  const watchers = new HealthWatchers({ perServer: 3, perConnection: 2 });
  const [one, two] = [{}, {}];
  const leave = watchers.enter(one);
  watchers.enter(one);
  expect(() => watchers.enter(one)).toThrow(expect.objectContaining(FULL));
  watchers.enter(two);
  for (const connection of [two, {}, undefined])
    expect(() => watchers.enter(connection)).toThrow(expect.objectContaining(FULL));
  leave();
  watchers.enter(undefined);
  expect(() => watchers.enter(one)).toThrow(expect.objectContaining(FULL));
});
