import { describe, expect, test } from 'vitest';
import { RawClient, rawRequest } from '../testing/raw-client.ts';
import { socketServer } from '../testing/socket-server.ts';
import type { ConnectionLimits } from './limits.ts';

const HEAD = 'POST /ojs/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n';
const CHUNKED = `${HEAD}Transfer-Encoding: chunked\r\n\r\n`;
const JOB = { type: 'a.b', args: [] };
const LONG_POLL = rawRequest('POST', '/ojs/v1/workers/fetch', { queues: ['q'], wait_ms: 30_000 });
const READY = rawRequest('GET', '/ready');

interface Attack {
  limits: ConnectionLimits;
  /** What the client does until the server ends the connection. */
  attack(client: RawClient): void;
  /** What it is told before that. */
  told: number[];
  code?: string;
}

const ATTACKS: Record<string, Attack> = {
  'a client that never sends anything': {
    limits: { headersTimeoutMs: 100 },
    attack: () => {},
    told: [408],
    code: 'timeout',
  },
  'headers that come byte by byte': {
    limits: { headersTimeoutMs: 200 },
    attack: (client) => {
      client.send('GET /ready HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
      client.drip('x', 20);
    },
    told: [408],
    code: 'timeout',
  },
  'a body that comes byte by byte': {
    limits: { requestTimeoutMs: 300 },
    attack: (client) => {
      client.send(`${HEAD}Content-Length: 100000\r\n\r\n{`);
      client.drip(' ', 20);
    },
    told: [408],
    code: 'timeout',
  },
  'a chunked body that comes byte by byte': {
    limits: { requestTimeoutMs: 300 },
    attack: (client) => {
      client.send(CHUNKED);
      client.drip('1\r\n \r\n', 20);
    },
    told: [408],
    code: 'timeout',
  },
  'an endless chunked body': {
    limits: {},
    attack: (client) => {
      client.send(CHUNKED);
      void client.flood(`10000\r\n${'x'.repeat(65_536)}\r\n`);
    },
    told: [413],
    code: 'payload_too_large',
  },
  'an endless body in chunks of one byte': {
    limits: {},
    attack: (client) => {
      client.send(CHUNKED);
      void client.flood('1\r\nx\r\n'.repeat(10_000));
    },
    told: [413],
    code: 'payload_too_large',
  },
  'endless extensions of a chunk': {
    limits: {},
    attack: (client) => {
      client.send(`${CHUNKED}1;a=`);
      void client.flood('x'.repeat(10_000));
    },
    told: [413],
    code: 'payload_too_large',
  },
  'huge headers': {
    limits: {},
    attack: (client) =>
      client.send(`GET /ready HTTP/1.1\r\nHost: localhost\r\nX-Huge: ${'x'.repeat(1_000_000)}\r\n\r\n`),
    told: [431],
    code: 'invalid_request',
  },
  'endless headers': {
    limits: {},
    attack: (client) => {
      client.send('GET /ready HTTP/1.1\r\nHost: localhost\r\n');
      void client.flood('X-More: x\r\n'.repeat(1_000));
    },
    told: [431],
    code: 'invalid_request',
  },
  'a huge address': {
    limits: { maxHeaderBytes: 2_000 },
    attack: (client) => client.send(rawRequest('GET', `/ready?${'x'.repeat(3_000)}`)),
    told: [431],
    code: 'invalid_request',
  },
  'what is not HTTP': {
    limits: {},
    attack: (client) => client.send('\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'),
    told: [400],
    code: 'invalid_request',
  },
  'a client that half-closes before its answer': {
    limits: {},
    attack: (client) => client.socket.end(LONG_POLL),
    told: [],
  },
  'a client that half-closes in the midst of its headers': {
    limits: {},
    attack: (client) => client.socket.end('GET /ready HTTP/1.1\r\nHost'),
    told: [400],
    code: 'invalid_request',
  },
};

describe('HTTP: the server ends the connection, says why, and serves others', () => {
  test.each(Object.entries(ATTACKS))('%s', async (_name, { limits, attack, told, code }) => {
    const { url } = await socketServer(limits);
    const client = await RawClient.connect(url);
    attack(client);
    await client.closed;
    expect(client.statuses).toEqual(told);
    if (code !== undefined) expect(client.received).toContain(`"code":"${code}"`);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });
});

test('HTTP: requests sent at once are answered in their order', async () => {
  const { url } = await socketServer();
  const client = await RawClient.connect(url);
  const names = Array.from({ length: 60 }, (_, index) => `x-${index}`);
  client.send(names.map((name) => `GET /ready HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: ${name}\r\n\r\n`).join(''));
  await client.until(/x-59/);
  expect([...client.received.matchAll(/^x-request-id: (\S+)/gim)].map(([, name]) => name)).toEqual(names);
});

test('HTTP: more requests at once than a connection may have are refused, and have no effect', async () => {
  const { url, waybill } = await socketServer({ maxPipelined: 5 });
  const client = await RawClient.connect(url);
  // The first one takes long, and the answers of the others wait behind it.
  client.send(LONG_POLL + rawRequest('POST', '/ojs/v1/jobs', JOB).repeat(50));
  const stored = waybill.events.follow({ filter: { types: ['job.enqueued'] }, signal: AbortSignal.timeout(60_000) });
  await stored[Symbol.asyncIterator]().next();
  await waybill.jobs.enqueue({ ...JOB, options: { queue: 'q' } });
  await client.closed;
  expect(client.statuses).toEqual([200, 201, 201, 201, 201, 429]);
  const { items } = await waybill.jobs.list({ limit: 100, filter: { queues: ['default'] } });
  expect(items).toHaveLength(4);
});

describe('HTTP: at the limit of connections', () => {
  test('a new client is served, and the one that was idle for longest goes', async () => {
    const { url } = await socketServer({ maxConnections: 3 });
    const idle = [await RawClient.connect(url), await RawClient.connect(url), await RawClient.connect(url)];
    // Used since then, so that the second one is the longest idle.
    idle[0]!.send(READY);
    await idle[0]!.until(/ 200 /);
    const next = await RawClient.connect(url);
    next.send(READY);
    await next.until(/ 200 /);
    await idle[1]!.closed;
    for (const client of [idle[0]!, idle[2]!]) {
      client.send(READY);
      await client.until(/ 200 .*/s);
    }
  });

  test('while all are busy a new client is refused with 503, and told when to come back', async () => {
    const { url, waybill, noticed } = await socketServer({ maxConnections: 2 });
    const { claim } = waybill.jobs;
    let waiting = 0;
    const allWait = Promise.withResolvers<void>();
    waybill.jobs.claim = (call) => {
      waiting += 1;
      if (waiting === 2) allWait.resolve();
      return claim(call);
    };
    const left = noticed('/ojs/v1/workers/fetch');
    const busy = [await RawClient.connect(url), await RawClient.connect(url)];
    for (const client of busy) client.send(LONG_POLL);
    await allWait.promise;
    const refused = await RawClient.connect(url);
    refused.send(rawRequest('POST', '/ojs/v1/jobs', JOB));
    await refused.closed;
    expect(refused.statuses).toEqual([503]);
    expect(refused.received).toMatch(/^retry-after: 1\r$/im);
    expect((await waybill.jobs.list({ limit: 1 })).items).toEqual([]);
    busy[0]!.socket.destroy();
    await left;
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });
});

test('HTTP: idle connections are kept longer than a proxy keeps its own, and the client is told', async () => {
  const { url } = await socketServer({});
  expect((await fetch(`${url}/ready`)).headers.get('keep-alive')).toBe('timeout=75');
  const short = await socketServer({ stalledTimeoutMs: 2_000 });
  expect((await fetch(`${short.url}/ready`)).headers.get('keep-alive')).toBe('timeout=2');
});

test.each([0, -1, 1.5, Number.NaN, '5'])('HTTP: a limit of %s is refused by name', async (value) => {
  await expect(socketServer({ maxConnections: value as number })).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining("'maxConnections'"),
  });
});
