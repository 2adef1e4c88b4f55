import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { socketServer } from '../testing/socket-server.ts';
import { TrustedProxies } from './forwarded.ts';

const read = (trusted: true | string[], remoteAddress: string, headers: IncomingMessage['headers']) =>
  new TrustedProxies(trusted).read({ socket: { remoteAddress }, headers } as unknown as IncomingMessage);

const clientOf = (trusted: true | string[], peer: string, chain: string) =>
  read(trusted, peer, { 'x-forwarded-for': chain }).address;

test('the client is the last one that is no proxy', () => {
  expect(clientOf(true, '127.0.0.1', '203.0.113.9')).toBe('203.0.113.9');
  expect(clientOf(true, '::ffff:10.0.0.1', '203.0.113.9, 10.0.0.7, 192.168.1.1')).toBe('203.0.113.9');
  // What a client writes itself stands before its own address.
  expect(clientOf(true, '127.0.0.1', '1.1.1.1, 203.0.113.9, 10.0.0.7')).toBe('203.0.113.9');
  expect(clientOf(true, '127.0.0.1', '10.0.0.9, 10.0.0.7')).toBe('10.0.0.9');
  expect(clientOf(true, '::1', '[2001:db8::1]:1234')).toBe('2001:db8::1');
  expect(clientOf(true, '127.0.0.1', '203.0.113.9:55')).toBe('203.0.113.9');
  expect(clientOf(true, '127.0.0.1', 'unknown, nonsense')).toBe('127.0.0.1');
  expect(clientOf(true, '127.0.0.1', '')).toBe('127.0.0.1');
});

test('only proxies are believed', () => {
  const headers = { 'x-forwarded-for': '1.1.1.1', 'x-forwarded-proto': 'https', 'x-forwarded-host': 'jobs.example' };
  expect(read(true, '203.0.113.9', headers)).toEqual({ address: '203.0.113.9', isHttps: false, host: undefined });
  expect(read(['10.0.0.5'], '10.0.0.6', headers)).toEqual({ address: '10.0.0.6', isHttps: false, host: undefined });
  const believed = { address: '1.1.1.1', isHttps: true, host: 'jobs.example' };
  for (const trusted of [true as const, ['10.0.0.5'], ['10.0.0.0/8', 'fd00::/8']])
    expect(read(trusted, '10.0.0.5', headers)).toEqual(believed);
});

test.each(['', 'proxy', '10.0.0.0/33', '10.0.0.0/', '10.0.0.0/x', '::1/129', '10.0.0'])(
  'the address %j of a proxy is refused',
  (range) => {
    expect(() => new TrustedProxies([range])).toThrow('Invalid address of a proxy');
  },
);

test('a server believes proxies only when it is told to', async () => {
  const headers = {
    'X-Forwarded-Proto': 'https',
    'X-Forwarded-Host': 'jobs.example',
    'X-Forwarded-For': '203.0.113.9',
    Origin: 'https://jobs.example',
  };
  for (const [trustProxy, status, origin] of [
    [false, 403, 'http://127.0.0.1'],
    [true, 404, 'https://jobs.example'],
    [['10.0.0.1'], 403, 'http://127.0.0.1'],
  ] as const) {
    const { url } = await socketServer({ trustProxy, allowedHosts: ['jobs.example'] });
    const answered = await fetch(`${url}/nothing`, { headers });
    const { error } = (await answered.json()) as { error: { docs_url: string } };
    expect([trustProxy, answered.status, error.docs_url.startsWith(origin)]).toEqual([trustProxy, status, true]);
  }
});

test('a session of a client behind a proxy of HTTPS has a secure cookie', async () => {
  const cookieOf = async (trustProxy: boolean) => {
    const server = await socketServer({ trustProxy }, { auth: {} });
    const { secret: key } = await server.waybill.keys!.create({ name: 'ada', scopes: ['read'] });
    const headers = { 'X-API-Key': key, 'X-Forwarded-Proto': 'https' };
    const begun = await fetch(`${server.url}/auth/session`, { method: 'POST', headers });
    return begun.headers.get('Set-Cookie');
  };
  expect(await cookieOf(true)).toMatch(/^__Host-waybill_session=.* Secure/);
  expect(await cookieOf(false)).toMatch(/^waybill_session=/);
});
