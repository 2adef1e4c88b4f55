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
    const end = new Promise<string>((resolve) =>
      stream.once('trailers', (trailers) => resolve(String(trailers['grpc-status']))),
    );
    stream.end(envelope(''));
    return { answer, end, close: () => stream.close() };
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

const from = (client: string, connection: object = {}) => ({ client, connection });

test('one client cannot keep others out: beyond the bound of the server, the client with the most loses its oldest', () => {
  const watchers = new HealthWatchers({ perServer: 3, perConnection: 2 });
  const other = watchers.enter(from('other'));
  const [first, second] = [watchers.enter(from('stranger')), watchers.enter(from('stranger'))];
  const third = watchers.enter(from('stranger'));
  expect(() => first.check()).toThrow(expect.objectContaining(FULL));
  watchers.enter(from('late'));
  expect(() => second.check()).toThrow(expect.objectContaining(FULL));
  for (const { signal } of [other, third]) expect(signal.aborted).toBe(false);
  // One that had to make room leaves later, and makes no more room.
  first.leave();
  watchers.enter(from('later'));
  expect([other, third].filter(({ signal }) => signal.aborted)).toHaveLength(1);
});

test('one that has left makes room, on its connection and on the server', () => {
  const watchers = new HealthWatchers({ perServer: 3, perConnection: 2 });
  const connection = {};
  const [one] = [watchers.enter(from('a', connection)), watchers.enter(from('a', connection))];
  expect(() => watchers.enter(from('a', connection))).toThrow(expect.objectContaining(FULL));
  one!.leave();
  const [, two] = [watchers.enter(from('a', connection)), watchers.enter({ client: 'b', connection: undefined })];
  expect(two!.signal.aborted).toBe(false);
});

// fault: a caller without a key watches on as many connections as the server takes
test('watchers leave most of the connections of a small server to others', async () => {
  const { grpcUrl } = await socketServer({ grpcPort: 0, maxConnections: 8 });
  const first = connection(grpcUrl!).watch();
  expect(await first.answer).toBe('watching');
  for (let n = 0; n < 2; n += 1) expect(await connection(grpcUrl!).watch().answer).toBe('watching');
  expect(await first.end).toBe(String(Code.ResourceExhausted));
});
