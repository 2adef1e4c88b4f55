import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const JOBS = '/ojs/v1/jobs';

async function limited(own: number | undefined, ofServer?: number) {
  const server = harness({ auth: {}, ...(ofServer !== undefined && { requestsPerMinute: ofServer }) });
  const limit = own === undefined ? {} : { requestsPerMinute: own };
  const { secret } = await server.waybill.keys!.create({ name: 'one', scopes: ['admin'], ...limit });
  return { ...server, secret, call: () => server.get(JOBS, { 'X-API-Key': secret }) };
}

const told = (headers: Headers, prefix = '') =>
  ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`${prefix}RateLimit-${name}`));

test('a key is held to its own limit, and told what is left', async () => {
  const { call, clock } = await limited(3, 100);
  const answers = [await call(), await call(), await call()];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(answers.map(({ headers }) => told(headers))).toEqual([
    ['3', '2', '20'],
    ['3', '1', '40'],
    ['3', '0', '60'],
  ]);
  expect(told(answers[0]!.headers, 'X-')).toEqual(['3', '2', '20']);
  const refused = await call();
  expect([refused.status, refused.body.error.code, refused.headers.get('Retry-After')]).toEqual([
    ...[429, 'rate_limited', '20'],
  ]);
  expect(told(refused.headers)).toEqual(['3', '0', '60']);
  await clock.advance(20_000);
  expect([(await call()).status, (await call()).status]).toEqual([200, 429]);
  await clock.advance(600_000);
  expect((await call()).headers.get('RateLimit-Remaining')).toBe('2');
});

test('a key without a limit of its own has that of the server; without both there is none', async () => {
  const one = await limited(undefined, 1);
  expect([(await one.call()).status, (await one.call()).status]).toEqual([200, 429]);
  const none = await limited(undefined);
  expect(told((await none.call()).headers)).toEqual([null, null, null]);
});

test('keys are counted apart, and a session counts for its key', async () => {
  const { call, get, post, waybill, secret } = await limited(undefined, 3);
  const other = await waybill.keys!.create({ name: 'two', scopes: ['admin'] });
  const begun = await post('/auth/session', { key: secret });
  // The exchange itself is a request too.
  expect(told(begun.headers)).toEqual(['3', '2', '20']);
  const Cookie = begun.headers.get('Set-Cookie')!.split(';', 1)[0]!;
  expect([(await call()).status, (await get(JOBS, { Cookie })).status]).toEqual([200, 200]);
  expect([(await call()).status, (await get(JOBS, { Cookie })).status]).toEqual([429, 429]);
  expect((await post('/auth/session', { key: secret })).status).toBe(429);
  expect((await get(JOBS, { 'X-API-Key': other.secret })).status).toBe(200);
});

test('a stream counts once, however long it lasts', async () => {
  const { app, secret, call, waybill } = await limited(2);
  const headers = { 'X-API-Key': secret, Accept: 'text/event-stream' };
  const { body, headers: answered } = await app.request('/ojs/v1/events', { headers });
  expect(answered.get('RateLimit-Remaining')).toBe('1');
  await waybill.jobs.enqueue({ type: 'a.b', args: [] });
  await waybill.jobs.enqueue({ type: 'a.b', args: [] });
  const reader = body!.getReader();
  let text = '';
  while (text.split('data:').length < 3) text += new TextDecoder().decode((await reader.read()).value);
  expect((await call()).status).toBe(200);
  expect((await call()).status).toBe(429);
  await reader.cancel();
});

test.each([0, 1.5, -1, Number.NaN])('a limit of %d requests is refused', (requestsPerMinute) => {
  expect(() => harness({ auth: {}, requestsPerMinute })).toThrow('requestsPerMinute');
});

test('a limit without callers that are known is refused, since it would count nobody', () => {
  expect(() => harness({ requestsPerMinute: 5 })).toThrow('needs auth');
});
