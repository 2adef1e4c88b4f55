import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type RemoteOptions, remote } from './index.ts';
import { BAD_SERVERS, badServer } from './testing/bad-servers.ts';

const SECRET = 'Bearer s3cret';

interface Line {
  level: string;
  fields: Record<string, unknown>;
  message: string;
}

/** A follower of that server, the lines that it has logged, and how often it has waited before another connection. */
function following(url: string, options: RemoteOptions = {}) {
  const lines: Line[] = [];
  const at = (level: string) => (fields: object, message: string) =>
    void lines.push({ level, fields: { ...fields }, message });
  const stop = new AbortController();
  let waits = 0;
  const enough = Promise.withResolvers<void>();
  const client = remote(url, {
    ...{ timeoutMs: 50, headers: { Authorization: SECRET }, logger: { info: at('info'), warn: at('warn') } },
    sleep: async () => {
      waits += 1;
      if (waits === 5) enough.resolve();
    },
    ...options,
  });
  onTestFinished(() => client.close());
  const next = client.events.follow({ signal: stop.signal })[Symbol.asyncIterator]().next();
  return { lines, next, stop, reconnected: enough.promise };
}

describe('D12: following a server that is of no use is not silent, goes on, and ends when it is told to', () => {
  test.each(Object.entries(BAD_SERVERS))('one that %s', async (_name, behaviour) => {
    const { url, connections } = await badServer(behaviour);
    const { lines, next, stop, reconnected } = following(url);
    await reconnected;
    stop.abort();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(connections()).toBeGreaterThanOrEqual(5);
    expect(lines.map(({ level }) => level)).toEqual(['warn']);
    expect(lines[0]).toMatchObject({ message: expect.stringContaining(url), fields: { server: url, failures: 1 } });
    expect(JSON.stringify(lines) + String(lines[0]!.fields['err'])).not.toContain('s3cret');
  });

  test('one that is not there', async () => {
    const { lines, next, stop, reconnected } = following('http://127.0.0.1:1');
    await reconnected;
    stop.abort();
    await next;
    expect(lines).toMatchObject([{ level: 'warn', fields: { err: { code: 'unavailable' } } }]);
    expect(String(lines[0]!.fields['err'])).toContain('http://127.0.0.1:1');
  });
});

test('a stream that was interrupted says so when it goes on', async () => {
  const event = {
    id: 'e',
    source: 'ojs://waybill/queues/q',
    type: 'job.enqueued',
    time: '2030-01-01T00:00:00.000Z',
    subject: 'j',
    data: {},
  };
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    if (asked < 3) return void response.destroy();
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.write(`id: 1\nevent: job.enqueued\ndata: ${JSON.stringify(event)}\n\n`);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { lines, next, stop } = following(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, {
    timeoutMs: 30_000,
  });
  expect(await next).toMatchObject({ done: false, value: { type: 'job.enqueued' } });
  stop.abort();
  expect(lines.map(({ level, fields }) => [level, fields['failures']])).toEqual([
    ['warn', 1],
    ['info', 2],
  ]);
});
