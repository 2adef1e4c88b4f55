import { connect } from 'node:http2';
import { expect, onTestFinished, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { envelope } from '../testing/rpc-wire.ts';
import { socketServer } from '../testing/socket-server.ts';

const FETCH = '/ojs/v1/workers/fetch';
const JOBS = '/ojs/v1/jobs';

async function served({ maxConnections = 6, openRequests = undefined as number | undefined } = {}) {
  const own = openRequests === undefined ? {} : { openRequests };
  const { url, grpcUrl, waybill, noticed } = await socketServer({ grpcPort: 0, maxConnections }, { auth: {}, ...own });
  const keyOf = async () => (await waybill.keys!.create({ name: 'k', scopes: ['admin'] })).secret;
  const ask = async (key: string, signal: AbortSignal, path: string, init: RequestInit = {}) => {
    const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
    return fetch(url + path, { headers, signal, ...init });
  };
  const statusOf = async (key: string) => {
    const response = await ask(key, AbortSignal.timeout(60_000), JOBS);
    await response.body?.cancel();
    return response.status;
  };
  /** Resolves when the server has taken it. */
  const stream = async (key: string) => {
    const leaving = new AbortController();
    onTestFinished(() => leaving.abort());
    const response = await ask(key, leaving.signal, '/ojs/v1/events', {
      headers: { 'X-API-Key': key, Accept: 'text/event-stream' },
    });
    expect(response.status).toBe(200);
    return () => leaving.abort();
  };
  return { url, grpcUrl, keyOf, ask, statusOf, stream, noticed };
}

test('one key has at most half of the connections under way, and others go on', async () => {
  const { keyOf, stream, ask, statusOf } = await served();
  const [key, other] = [await keyOf(), await keyOf()];
  const leave = [await stream(key), await stream(key), await stream(key)];
  const refused = await ask(key, AbortSignal.timeout(60_000), JOBS);
  expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({ error: { code: 'rate_limited', details: { open_requests: 3 } } });
  expect(await statusOf(other)).toBe(200);
  leave[0]!();
  await expect.poll(() => statusOf(key)).toBe(200);
});

test('a long poll counts for as long as it waits, also where its client leaves', async () => {
  const { keyOf, ask, statusOf, noticed } = await served({ openRequests: 1 });
  const key = await keyOf();
  const leaving = new AbortController();
  const body = JSON.stringify({ queues: ['q'], wait_ms: 30_000 });
  const gone = noticed(FETCH);
  const poll = ask(key, leaving.signal, FETCH, { method: 'POST', body }).catch(() => 'left');
  await expect.poll(() => statusOf(key)).toBe(429);
  leaving.abort();
  expect(await poll).toBe('left');
  await gone;
  await expect.poll(() => statusOf(key)).toBe(200);
});

test('streams over gRPC count with the requests over HTTP, and sessions for their key', async () => {
  const { url, grpcUrl, keyOf, statusOf } = await served({ openRequests: 2 });
  const key = await keyOf();
  const begun = await fetch(`${url}/auth/session`, { method: 'POST', headers: { 'X-API-Key': key } });
  const Cookie = begun.headers.get('Set-Cookie')!.split(';', 1)[0]!;
  const client = connect(grpcUrl!.replace('grpc', 'http'));
  onTestFinished(() => client.destroy());
  const head = { ':method': 'POST', 'content-type': 'application/grpc+json', te: 'trailers', 'x-api-key': key };
  const calls = Array.from({ length: 2 }, () => {
    const call = client.request({ ...head, ':path': '/waybill.v1.JobService/DequeueJobs' });
    call.on('error', () => {}).resume();
    call.end(envelope('{"queue":"q"}'));
    return call;
  });
  await expect.poll(() => statusOf(key)).toBe(429);
  expect((await fetch(url + JOBS, { headers: { Cookie } })).status).toBe(429);
  calls[0]!.close();
  await expect.poll(() => statusOf(key)).toBe(200);
});

test('it needs callers that are known, and a number', () => {
  expect(() => harness({ openRequests: 5 })).toThrow(/needs auth/);
  expect(() => harness({ auth: {}, openRequests: 0 })).toThrow(/whole number/);
});
