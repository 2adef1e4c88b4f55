import { expect, test } from 'vitest';
import { harness } from '../testing/harness.ts';

const APP = 'https://app.example';
const page = (Origin: string) => ({ Origin, 'Sec-Fetch-Site': 'cross-site', Host: 'jobs.example' });
const ASKS = { 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'x-api-key' };

async function world(origins: string[] | undefined) {
  const server = harness({ auth: {}, ...(origins && { cors: { origins } }) });
  const { secret } = await server.waybill.keys!.create({ name: 'one', scopes: ['admin'] });
  const send = async (method: string, headers: Record<string, string>) => {
    const { status, headers: answered } = await server.app.request('/ojs/v1/jobs', { method, headers });
    const allowed = [...answered].filter(([name]) => name.startsWith('access-control'));
    return { status, allowed: Object.fromEntries(allowed), vary: answered.get('Vary') };
  };
  return { send, key: { 'X-API-Key': secret } };
}

test('without configuration no other page may call, and no preflight is answered', async () => {
  const { send, key } = await world(undefined);
  expect(await send('OPTIONS', { ...page(APP), ...ASKS })).toMatchObject({ status: 403, allowed: {} });
  expect(await send('GET', { ...page(APP), ...key })).toMatchObject({ status: 403, allowed: {} });
  expect(await send('OPTIONS', ASKS)).toMatchObject({ status: 401, allowed: {} });
});

test('a named origin may call, with cookies; a preflight needs no key, and the call does', async () => {
  const { send, key } = await world([APP, 'http://localhost:3000']);
  const preflight = await send('OPTIONS', { ...page(APP), ...ASKS });
  expect(preflight).toMatchObject({
    status: 204,
    vary: 'Origin',
    allowed: {
      'access-control-allow-origin': APP,
      'access-control-allow-credentials': 'true',
      'access-control-allow-headers': expect.stringContaining('X-API-Key'),
      'access-control-allow-methods': expect.stringContaining('DELETE'),
    },
  });
  expect(await send('GET', page(APP))).toMatchObject({ status: 401, allowed: { 'access-control-allow-origin': APP } });
  expect((await send('GET', { ...page(APP), ...key })).status).toBe(200);
  expect((await send('GET', { ...page('http://localhost:3000'), ...key })).status).toBe(200);
  for (const other of ['https://evil.example', 'http://app.example', 'https://app.example.evil.example', 'null'])
    expect(await send('GET', { ...page(other), ...key })).toMatchObject({ status: 403, allowed: {}, vary: 'Origin' });
});

test('every origin may call where that was said, and never with cookies', async () => {
  const { send, key } = await world(['*']);
  const { status, allowed } = await send('GET', { ...page(APP), ...key });
  expect([status, allowed['access-control-allow-origin']]).toEqual([200, '*']);
  expect(allowed).not.toHaveProperty('access-control-allow-credentials');
  expect((await send('OPTIONS', { ...page(APP), ...ASKS })).allowed).not.toHaveProperty(
    'access-control-allow-credentials',
  );
});

test.each([
  'app.example',
  'https://app.example/',
  'https://app.example/path',
  'ftp://app.example',
  'null',
  '',
  'https://*.example',
])('the origin %j is refused', (origin) => {
  expect(() => harness({ cors: { origins: [origin] } })).toThrow('Invalid origin');
});

test('every origin is refused where nobody has to show a key', () => {
  expect(() => harness({ cors: { origins: ['*'] } })).toThrow('nobody has to show a key');
});
