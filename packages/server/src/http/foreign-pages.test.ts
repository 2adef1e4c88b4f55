import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, test } from 'vitest';
import { serve } from '../serve.ts';
import { harness } from '../testing/harness.ts';
import { checkHostNames } from './hosts.ts';

const HOST = '127.0.0.1:8080';
const PAUSE = '/ojs/v1/queues/default/pause';
const PATHS = ['/health', '/ready', '/ojs/manifest', '/ojs/v1/jobs', '/ojs/v1/events', '/nothing-here'];

/** What Chromium sends with each kind of request of a page. */
const fetched = (site: string) => ({ 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' });
const link = (site: string) => ({ 'Sec-Fetch-Site': site, 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' });

/** Refused or not: whether a queue is paused by the call is the proof. */
async function pauses(headers: Record<string, string>): Promise<number> {
  const { raw, waybill } = harness();
  const { status, body } = await raw('POST', PAUSE, { headers: { Host: HOST, ...headers } });
  const isPaused = (await waybill.queues.list()).some(({ paused }) => paused);
  expect(isPaused).toBe(status === 200);
  if (status !== 200) expect(body.error).toMatchObject({ code: 'forbidden', retryable: false });
  return status;
}

describe('A9: a request of a web page', () => {
  const ORIGIN = `http://${HOST}`;

  it.each([
    ['no browser at all', {}],
    ['Node, whose fetch names a mode', { 'Sec-Fetch-Mode': 'cors' }],
    ['a page of this server', { ...fetched('same-origin'), Origin: ORIGIN }],
    ['the same, in an older browser', { Origin: ORIGIN }],
    ['the same, behind a proxy that speaks HTTPS', { Origin: `https://${HOST}` }],
    ['the same, with the port of its scheme', { Origin: 'https://jobs.example', Host: 'jobs.example:443' }],
    ['the same, behind a proxy that replaces the Host', { ...fetched('same-origin'), Origin: 'https://jobs.example' }],
    ['the address line', { 'Sec-Fetch-Site': 'none' }],
  ])('passes when it comes from %s', async (_, headers) => {
    expect(await pauses(headers)).toBe(200);
  });

  it.each([
    ['another site', { ...fetched('cross-site'), Origin: 'http://evil.example' }],
    ['another site that sends no Origin', fetched('cross-site')],
    ['another port of this machine', { ...fetched('same-site'), Origin: 'http://127.0.0.1:3000' }],
    ['a value that no browser sends today', fetched('somewhere')],
    ['another site, in an older browser', { Origin: 'http://evil.example' }],
    ['another port, in an older browser', { Origin: 'http://127.0.0.1:3000' }],
    ['another name of this machine, in an older browser', { Origin: 'http://localhost:8080' }],
    ['a page without an origin', { Origin: 'null' }],
    ['a page without an origin, by its address', { 'Sec-Fetch-Site': 'none', Origin: 'null' }],
    ['a browser extension', { 'Sec-Fetch-Site': 'none', Origin: `chrome-extension://${HOST}` }],
    ['a form of another site', { ...link('cross-site'), Origin: 'http://evil.example' }],
  ])('is refused when it comes from %s', async (_, headers) => {
    expect(await pauses(headers)).toBe(403);
  });

  it.each(PATHS)('is refused at %s, whatever the method', async (path) => {
    const { raw } = harness();
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const { status, body, headers } = await raw(method, path, { headers: { Host: HOST, ...fetched('cross-site') } });
      expect(status).toBe(403);
      expect(body.error.message).toContain('another origin (Sec-Fetch-Site: cross-site)');
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('may follow a link, but not by a frame, an image or a script', async () => {
    const { get } = harness();
    const status = async (headers: object) => (await get('/ojs/manifest', { Host: HOST, ...headers })).status;
    expect(await status(link('cross-site'))).toBe(200);
    expect(await status(link('same-site'))).toBe(200);
    for (const dest of ['iframe', 'frame', 'object', 'embed', 'image', 'script', 'empty']) {
      expect([dest, await status({ ...link('cross-site'), 'Sec-Fetch-Dest': dest })]).toEqual([dest, 403]);
    }
    expect(await status({ ...link('cross-site'), 'Sec-Fetch-Mode': 'no-cors' })).toBe(403);
  });
});

describe('A9: the Host of a request over a socket', () => {
  async function statusFor(url: string, head: string): Promise<number> {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname.replace(/[[\]]/g, ''));
    socket.end(`${head}\r\nConnection: close\r\n\r\n`);
    const [, status] = /^HTTP\/1\.1 (\d+)/.exec(await text(socket))!;
    return Number(status);
  }

  async function statuses(options: { host?: string; noAuth?: boolean; allowedHosts?: string[] }, names: string[]) {
    const { url, close } = await serve(harness().app, { port: 0, ...options });
    onTestFinished(close);
    const found = await Promise.all(names.map((name) => statusFor(url, `GET /ready HTTP/1.1\r\nHost: ${name}`)));
    return { url, found: Object.fromEntries(names.map((name, index) => [name, found[index]])) };
  }

  const all = (names: string[], status: number) => Object.fromEntries(names.map((name) => [name, status]));

  it('must be a name of loopback while the server listens there', async () => {
    const good = [
      'localhost',
      'LocalHost:8080',
      'localhost.',
      'shop.localhost:1',
      '127.0.0.1',
      '127.9.9.9:80',
      '[::1]',
      '[::1]:8080',
    ];
    const addresses = ['10.0.0.1', '10.0.0.1:8080', '[::2]:8080'];
    const bad = [
      'evil.example',
      'evil.example:8080',
      '127.0.0.1.evil.example',
      'localhost.evil.example',
      'notlocalhost',
    ];
    const { found, url } = await statuses({}, [...good, ...addresses, ...bad]);
    // No name server has a say in where an address leads, and load balancers check health by it.
    expect(found).toEqual({ ...all([...good, ...addresses], 200), ...all(bad, 403) });
    // No browser leaves it out.
    expect(await statusFor(url, 'GET /ready HTTP/1.0')).toBe(200);
    expect(await statusFor(url, 'GET /ready HTTP/1.1\r\nHost: localhost\r\nHost: evil.example')).not.toBe(200);
  });

  it('may be another name that was allowed', async () => {
    const allowedHosts = ['jobs.example', '10.0.0.1', '[fe80::1]'];
    const { found } = await statuses({ allowedHosts }, ['JOBS.example:80', '10.0.0.1', '[fe80::1]', 'x.jobs.example']);
    expect(found).toEqual({ 'JOBS.example:80': 200, '10.0.0.1': 200, '[fe80::1]': 200, 'x.jobs.example': 403 });
  });

  it('may be any beyond loopback, unless names are listed', async () => {
    const beyond = { host: '0.0.0.0', noAuth: true };
    expect((await statuses(beyond, ['evil.example'])).found).toEqual({ 'evil.example': 200 });
    const listed = await statuses({ ...beyond, allowedHosts: ['a.b'] }, ['evil.example', 'a.b', 'localhost']);
    expect(listed.found).toEqual({ 'evil.example': 403, 'a.b': 200, localhost: 200 });
  });
});

test('A9: a refused Host is told what to do about it', async () => {
  const { app } = harness();
  const request = app.request('/ready', { headers: { Host: 'Evil.example:80' } }, { allowedHosts: new Set<string>() });
  expect(await (await request).json()).toMatchObject({
    error: {
      code: 'forbidden',
      message: "Host 'evil.example' is not allowed.",
      hint: 'Pass --allow-host evil.example (allowedHosts) if this name is yours.',
    },
  });
});

test('A9: a proxy must have been called by an allowed name, and must call this server by one', async () => {
  const { app } = harness();
  const statusFor = async (Host: string, forwardedHost: string) => {
    const env = { allowedHosts: new Set(['jobs.example']), forwardedHost };
    return (await app.request('/ready', { headers: { Host } }, env)).status;
  };
  expect(await statusFor('127.0.0.1:8080', 'jobs.example')).toBe(200);
  expect(await statusFor('127.0.0.1:8080', 'evil.example')).toBe(403);
  expect(await statusFor('evil.example', 'jobs.example')).toBe(403);
});

test('A9: an allowed host is a name and nothing else', () => {
  expect([...checkHostNames(['Jobs.Example', '[::1]', '10.0.0.1'])]).toEqual(['jobs.example', '::1', '10.0.0.1']);
  for (const name of ['http://jobs.example', 'jobs.example:80', '*', '', 'a b', 'a/b']) {
    expect(() => checkHostNames([name])).toThrow(`Invalid host name '${name}'.`);
  }
});
