import type { KeyRequest } from '@waybill/core';
import { describe, expect, test } from 'vitest';
import { harness, MEDIA_TYPE } from '../testing/harness.ts';

/** Everything that answers without a key, but for the exchange of a key. */
const OPEN = ['GET /health', 'GET /ready'];
const LOGIN = 'POST /auth/session';
const DAY = 86_400_000;
const ADMIN: KeyRequest = { name: 'admin', scopes: ['admin'] };

/** Load balancers ask it, in the words of gRPC. */
const OPEN_RPC = ['Check', 'List', 'Watch'].map((name) => `POST /grpc.health.v1.Health/${name}`);

/** Method and path of every route, with something in the place of each parameter. Middleware stands for whole folders. */
const routesOf = ({ app }: ReturnType<typeof harness>): [route: string, method: string, path: string][] =>
  app.routes
    .filter(({ method, path }) => method !== 'ALL' || !path.includes('*'))
    .map(({ method: one, path }) => [one === 'ALL' ? 'POST' : one, path] as const)
    .map(([method, path]) => [`${method} ${path}`, method, path.replaceAll(/:[^/]+/g, 'x')]);

const UNKNOWN_PATHS = [
  '/',
  '/nothing',
  '/ojs/v1/nothing',
  '/metrics',
  '/openapi.json',
  '/health/x',
  '/ready/',
  '//health',
];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Callers that this server does not know, each made on a server of its own. */
const STRANGERS: Record<string, (server: ReturnType<typeof harness>) => Promise<Record<string, string>>> = {
  'no key': async () => ({}),
  'a wrong key': async ({ waybill }) => {
    const { secret } = await waybill.keys!.create(ADMIN);
    return { Authorization: `Bearer ${secret.slice(0, -4)}AAAA` };
  },
  'a text that is no key': async () => ({ 'X-API-Key': 'hello' }),
  'another scheme': async ({ waybill }) => {
    const { secret } = await waybill.keys!.create(ADMIN);
    return { Authorization: `Basic ${btoa(`admin:${secret}`)}` };
  },
  'an expired key': async ({ waybill, clock }) => {
    const { secret } = await waybill.keys!.create({ ...ADMIN, expiresAt: clock.now() + DAY });
    await clock.advance(DAY);
    return { Authorization: `Bearer ${secret}` };
  },
  'a revoked key': async ({ waybill }) => {
    const { key, secret } = await waybill.keys!.create(ADMIN);
    await waybill.keys!.revoke(key.id);
    return { 'X-API-Key': secret };
  },
  'a made-up session': async () => ({ Cookie: `waybill_session=${'A'.repeat(43)}` }),
};

describe.each(Object.entries(STRANGERS))('with %s', (_, stranger) => {
  test('every route answers 401 and nothing else, unknown paths too', async () => {
    const server = harness({ auth: {}, maintenance: false });
    const headers = { 'Content-Type': MEDIA_TYPE, ...(await stranger(server)) };
    const before = await server.stored();
    const routes = routesOf(server);
    expect(routes.length).toBeGreaterThan(50);
    const unknown = UNKNOWN_PATHS.flatMap((path) =>
      METHODS.map((method) => [`${method} ${path}`, method, path] as const),
    );
    const answered: string[] = [];
    for (const [route, method, path] of [...routes, ...unknown]) {
      const response = await server.app.request(path, { method, headers });
      const text = await response.text();
      if (response.status !== 401) {
        answered.push(route);
        continue;
      }
      expect(response.headers.get('WWW-Authenticate')).toBe('Bearer');
      // One text for all of them, so that nothing can be learned from it.
      if (method !== 'HEAD') {
        expect(JSON.parse(text).error).not.toHaveProperty('docs_url');
        expect(JSON.parse(text).error).toMatchObject({
          ...{ code: 'unauthenticated', message: 'This server does not know who sends the request.' },
        });
      }
    }
    // Without the content type of the protocol they are refused for that.
    expect(answered).toEqual([...OPEN, ...OPEN_RPC]);
    expect(await server.stored()).toBe(before);
  });

  test('what is open tells nothing but the status', async () => {
    const server = harness({ auth: {}, maintenance: false });
    const headers = await stranger(server);
    expect((await server.get('/health', headers)).body).toEqual({ status: 'ok' });
    expect((await server.get('/ready', headers)).body).toEqual({ status: 'ready' });
  });
});

test('with a key every route answers something else than 401', async () => {
  const server = harness({ auth: {}, maintenance: false });
  const { secret } = await server.waybill.keys!.create(ADMIN);
  const headers = { 'Content-Type': MEDIA_TYPE, Authorization: `Bearer ${secret}` };
  for (const [route, method, path] of routesOf(server)) {
    const response = await server.app.request(path, { method, headers });
    expect([route, response.status]).not.toEqual([route, 401]);
    await response.body?.cancel();
  }
  expect(routesOf(server).map(([route]) => route)).toContain(LOGIN);
});
