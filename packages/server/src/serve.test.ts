import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { engine } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { createApp } from './app.ts';
import { isLoopback } from './http/hosts.ts';
import { serve } from './serve.ts';

/** The one test file with sockets: everything else goes through app.request(). */
async function listening(graceMs = 10_000) {
  const waybill = engine({ store: memoryStore() });
  const app = createApp({ waybill, version: 'test' });
  const { url, close } = await serve(app, { port: 0, graceMs });
  onTestFinished(async () => {
    await close();
    await waybill.close();
  });
  return { url, close, waybill, app };
}

/** Something that one side waits for and the other lets happen. */
function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

const post = (url: string, body: object, signal?: AbortSignal) =>
  fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  });

test('loopback is told from other addresses', () => {
  for (const host of ['localhost', 'LOCALHOST', '127.0.0.1', '127.8.9.10', '::1', '[::1]', '::ffff:127.0.0.1']) {
    expect([host, isLoopback(host)]).toEqual([host, true]);
  }
  for (const host of [
    '',
    '0.0.0.0',
    '::',
    '[::]',
    '10.0.0.1',
    '128.0.0.1',
    '127.0.0.1.evil.com',
    '127.1',
    'example.com',
    '::2',
  ]) {
    expect([host, isLoopback(host)]).toEqual([host, false]);
  }
});

test('listening beyond loopback is refused unless asked for', async () => {
  const { app } = await listening();
  for (const host of ['0.0.0.0', '::', '']) {
    await expect(serve(app, { host, port: 0 })).rejects.toMatchObject({
      code: 'forbidden',
      hint: expect.stringContaining('127.0.0.1'),
    });
  }
  const open = await serve(app, { host: '0.0.0.0', port: 0, noAuth: true });
  await open.close();
});

test('an app that asks for keys may listen beyond loopback', async () => {
  const { waybill } = await listening();
  const { url, close } = await serve(createApp({ waybill, version: 'test', auth: {} }), { host: '0.0.0.0', port: 0 });
  onTestFinished(close);
  const reached = url.replace('0.0.0.0', '127.0.0.1');
  const { secret } = await waybill.keys!.create({ name: 'one', scopes: ['read'] });
  const statusWith = async (headers: Record<string, string>) =>
    (await fetch(`${reached}/ojs/v1/jobs`, { headers })).status;
  expect([await statusWith({}), await statusWith({ 'X-API-Key': secret })]).toEqual([401, 200]);
});

test('D12: a port or an address that cannot be had is told, with what to do', async () => {
  const { app, url } = await listening();
  const port = Number(new URL(url).port);
  await expect(serve(app, { port })).rejects.toMatchObject({
    code: 'conflict',
    message: `Cannot listen on port ${port} of 127.0.0.1: another process uses it.`,
    hint: expect.stringContaining('--port'),
    cause: { code: 'EADDRINUSE' },
  });
  // Reserved for documentation, so no machine has it.
  await expect(serve(app, { host: '192.0.2.1', port: 0, noAuth: true })).rejects.toMatchObject({
    code: 'invalid_request',
    hint: expect.stringContaining('--host'),
  });
});

test('answers have the same headers over a socket', async () => {
  const { url } = await listening();
  const created = await post(`${url}/ojs/v1/jobs`, { type: 'a.b', args: [] });
  expect(created.status).toBe(201);
  for (const response of [created, await fetch(`${url}/nope`)]) {
    expect(response.headers.get('content-type')).toBe('application/openjobspec+json');
    expect(response.headers.get('ojs-version')).toBe('1.0');
  }
});

test('large, endless and broken bodies are refused and the server lives on', async () => {
  const { url } = await listening();
  const large = await post(`${url}/ojs/v1/jobs`, { type: 'a.b', args: ['x'.repeat(5_000_000)] });
  expect(large.status).toBe(413);
  const deep = await fetch(`${url}/ojs/v1/jobs`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: '['.repeat(10_000) + ']'.repeat(10_000),
  });
  expect(deep.status).toBe(400);
  expect(await chunkedStatus(url, 5_000_000)).toBe(413);
  await cutShort(url);
  expect((await fetch(`${url}/ready`)).status).toBe(200);
});

test('closing ends streams and long polls at once and waits for what is under way', async () => {
  const { url, close, waybill } = await listening();
  const { enqueue } = waybill.jobs;
  const underway = gate();
  const finish = gate();
  waybill.jobs.enqueue = async (...call) => {
    underway.open();
    await finish.passed;
    return enqueue(...call);
  };
  const stream = await fetch(`${url}/ojs/v1/events`, { headers: { Accept: 'text/event-stream' } });
  const poll = post(`${url}/ojs/v1/workers/fetch`, { queues: ['q'], wait_ms: 30_000 });
  const slow = post(`${url}/ojs/v1/jobs`, { type: 'a.b', args: [] });
  await underway.passed;
  const closed = close();
  expect(await stream.text()).toMatch(/^: /);
  expect(await (await poll).json()).toEqual({ jobs: [], job: null });
  await expect(fetch(`${url}/ready`)).rejects.toThrow();
  finish.open();
  expect((await slow).status).toBe(201);
  await closed;
  await close();
});

test('closing does not wait for connections that were never used', async () => {
  const { url, close } = await listening(60_000);
  const { hostname, port } = new URL(url);
  const [unused, used] = [connect(Number(port), hostname), connect(Number(port), hostname)];
  await Promise.all([once(unused, 'connect'), once(used, 'connect')]);
  used.write('GET /ready HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await once(used, 'data');
  const ended = [once(unused, 'close'), once(used, 'close')];
  await close();
  for (const socket of [unused, used]) socket.resume();
  await Promise.all(ended);
});

test('closing waits no longer than it was told to', async () => {
  const { url, close, waybill } = await listening(50);
  const underway = gate();
  waybill.jobs.enqueue = () => {
    underway.open();
    return new Promise(() => {});
  };
  const stuck = post(`${url}/ojs/v1/jobs`, { type: 'a.b', args: [] }).catch((error: unknown) => error);
  await underway.passed;
  await close();
  expect(await stuck).toBeInstanceOf(Error);
});

test('a client that hangs up ends its long poll', async () => {
  const { url, waybill } = await listening();
  const aborted = gate();
  const waiting = gate();
  waybill.jobs.claim = ({ signal }) =>
    new Promise((resolve) => {
      signal?.addEventListener('abort', () => {
        aborted.open();
        resolve([]);
      });
      waiting.open();
    });
  const leaving = new AbortController();
  const gone = post(`${url}/ojs/v1/workers/fetch`, { queues: ['q'], wait_ms: 30_000 }, leaving.signal);
  gone.catch(() => {});
  await waiting.passed;
  leaving.abort();
  await aborted.passed;
});

/** Sends a body without announcing its length; answers the status. */
function chunkedStatus(url: string, length: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const call = request(`${url}/ojs/v1/jobs`, { method: 'POST', headers: { 'Content-Type': 'application/json' } });
    call.on('response', (response) => {
      resolve(response.statusCode!);
      response.resume();
    });
    call.on('error', reject);
    call.write('x'.repeat(length));
    call.end();
  });
}

/** Announces a body and hangs up in the middle of it. */
function cutShort(url: string): Promise<void> {
  return new Promise((resolve) => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname, () => {
      const head =
        'POST /ojs/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"type"';
      socket.end(head, () => socket.destroy());
    });
    socket.on('close', () => resolve());
  });
}
