import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { inspect } from 'node:util';
import { systemClock } from '@waybill/core';
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, onTestFinished, test } from 'vitest';
import { harness } from '../testing/harness.ts';
import { JwtVerifier } from './jwt.ts';
import type { JwtOptions } from './jwt-options.ts';

const ISSUER = 'https://issuer.example/';
const AUDIENCE = 'waybill';
const JOBS = '/ojs/v1/jobs';
const CLAIMS = { tenant: 'acme', scope: 'openid read enqueue', sub: 'ada' };

async function newKey(kid: string, alg = 'ES256') {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { kid, alg, privateKey, publicKey, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
}
type Key = Awaited<ReturnType<typeof newKey>>;

/** A real JWKS server on loopback. */
async function issuer(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
}

async function world(options: Partial<JwtOptions> = {}) {
  const keys: Key[] = [await newKey('one')];
  let fetches = 0;
  const jwks = await issuer((_, response) => {
    fetches += 1;
    response.end(JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }));
  });
  const server = harness({ auth: { jwt: { issuer: ISSUER, audience: AUDIENCE, jwks, ...options } } });
  const seconds = () => Math.floor(server.clock.now() / 1_000);
  const signed = (claims: Record<string, unknown> = {}, key = keys[0]!, times: { exp?: number; nbf?: number } = {}) => {
    const jwt = new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...CLAIMS, ...claims })
      .setProtectedHeader({ alg: key.alg, kid: key.kid })
      .setExpirationTime(seconds() + (times.exp ?? 300));
    if (times.nbf !== undefined) jwt.setNotBefore(seconds() + times.nbf);
    return jwt.sign(key.privateKey);
  };
  const ask = (token: string, where = JOBS) => server.get(where, { Authorization: `Bearer ${token}` });
  return { ...server, keys, signed, ask, seconds, fetches: () => fetches };
}

type Made = Awaited<ReturnType<typeof world>>;

test('the claims of a token say who its holder is', async () => {
  const { signed, ask, post } = await world();
  const token = await signed({ queues: ['mails'], types: 'a.b' });
  expect((await ask(token, '/auth/session')).body).toMatchObject({
    by: 'jwt',
    principal: { id: 'ada', tenant: 'acme', scopes: ['enqueue', 'read'], queues: ['mails'], types: ['a.b'] },
  });
  expect((await ask(token)).status).toBe(200);
  const plain = { Authorization: `Bearer ${await signed()}` };
  expect((await post(JOBS, { type: 'a.b', args: [] }, plain)).status).toBe(201);
  expect((await post('/ojs/v1/queues/q/pause', undefined, plain)).status).toBe(403);
});

test.each(['RS256', 'PS256', 'EdDSA'])('tokens are checked with %s too', async (alg) => {
  const { keys, signed, ask } = await world();
  keys[0] = await newKey('one', alg);
  expect((await ask(await signed())).status).toBe(200);
});

describe('a token is refused with 401', () => {
  test.each<[string, string, (made: Made) => Promise<string>]>([
    ['of another issuer', 'token_issuer', ({ signed }) => signed({ iss: 'https://evil.example/' })],
    ['for another audience', 'token_audience', ({ signed }) => signed({ aud: 'other' })],
    ['that has expired', 'token_expired', ({ signed }) => signed({}, undefined, { exp: -31 })],
    ['that does not count yet', 'token_early', ({ signed }) => signed({}, undefined, { nbf: 31 })],
    ['without a subject', 'token_incomplete', ({ signed }) => signed({ sub: undefined })],
    [
      'signed by a stranger under a known name',
      'token_signature',
      async ({ signed }) => signed({}, await newKey('one')),
    ],
    [
      'that is changed',
      'token_signature',
      async ({ signed }) => (await signed()).replace(/\.[^.]+\./, `.${btoa('{"sub":"eve"}').replaceAll('=', '')}.`),
    ],
    [
      'without an end',
      'token_incomplete',
      async ({ keys: [key] }) =>
        new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...CLAIMS })
          .setProtectedHeader({ alg: 'ES256', kid: 'one' })
          .sign(key!.privateKey),
    ],
    [
      'of the algorithm none',
      'token_algorithm',
      async ({ seconds }) =>
        new UnsecuredJWT({ iss: ISSUER, aud: AUDIENCE, ...CLAIMS }).setExpirationTime(seconds() + 300).encode(),
    ],
    [
      'that takes the public key for a shared secret',
      'token_algorithm',
      async ({ keys: [key], seconds }) =>
        new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...CLAIMS })
          .setProtectedHeader({ alg: 'HS256', kid: 'one' })
          .setExpirationTime(seconds() + 300)
          .sign(new TextEncoder().encode(await exportSPKI(key!.publicKey))),
    ],
    ['that only looks like one', 'token_malformed', async () => 'a.b.c'],
    [
      'signed by a key that the issuer does not have',
      'token_signer',
      async ({ signed }) => signed({}, await newKey('two')),
    ],
  ])('%s, and the log has the reason %s and nothing of the token', async (_, reason, make) => {
    const made = await world();
    expect((await made.ask(await made.signed())).status).toBe(200);
    const token = await make(made);
    const { status, body } = await made.ask(token);
    expect([status, body.error.message]).toEqual([401, 'This server does not know who sends the request.']);
    expect(made.log).toMatchObject([{ level: 'warn', fields: { reason } }]);
    for (const part of token.split('.').filter(({ length }) => length > 10))
      expect(JSON.stringify([made.log, body])).not.toContain(part);
  });
});

test('clocks may be half a minute apart', async () => {
  const { signed, ask } = await world();
  expect((await ask(await signed({}, undefined, { exp: -29, nbf: 29 }))).status).toBe(200);
});

test.each([
  [{ scope: 'openid profile' }, "claim 'scope'"],
  [{ scope: undefined }, "claim 'scope'"],
  [{ scope: 5 }, "claim 'scope'"],
  [{ tenant: undefined }, "claim 'tenant'"],
  [{ tenant: '*' }, "claim 'tenant'"],
  [{ tenant: '~system' }, "claim 'tenant'"],
  [{ tenant: ['a'] }, "claim 'tenant'"],
  [{ scope: 'work', types: ['a.b'] }, 'do not fit together'],
])('a good token with %j is forbidden, not unknown', async (claims, text) => {
  const { signed, ask } = await world();
  const { status, body } = await ask(await signed(claims));
  expect([status, body.error.message]).toEqual([403, expect.stringContaining(text)]);
});

test('claims may have other names, and the server a tenant for tokens that name none', async () => {
  const { signed, ask } = await world({ scopesClaim: 'permissions', tenantClaim: 'org', tenant: 'fallback' });
  const principalOf = async (claims: object) =>
    (await ask(await signed({ ...claims }), '/auth/session')).body.principal;
  expect(await principalOf({ permissions: ['admin'] })).toMatchObject({ tenant: 'fallback', scopes: ['admin'] });
  expect(await principalOf({ permissions: ['admin'], org: 'b' })).toMatchObject({ tenant: 'b' });
});

test('keys are fetched once, and again when a token names an unknown one, but not for every stranger', async () => {
  const { keys, signed, ask, clock, fetches } = await world();
  for (let count = 0; count < 3; count += 1) expect((await ask(await signed())).status).toBe(200);
  expect(fetches()).toBe(1);
  const second = await newKey('two');
  keys.push(second);
  expect((await ask(await signed({}, second))).status).toBe(401);
  expect(fetches()).toBe(1);
  await clock.advance(30_000);
  expect((await ask(await signed({}, second))).status).toBe(200);
  expect(fetches()).toBe(2);
  const stranger = await newKey('three');
  for (let count = 0; count < 3; count += 1) expect((await ask(await signed({}, stranger))).status).toBe(401);
  expect(fetches()).toBe(2);
  await clock.advance(600_000);
  keys.shift();
  expect((await ask(await signed({}, second))).status).toBe(200);
  // No request waits for it.
  await expect.poll(fetches).toBe(3);
});

// fault: the issuer takes the request and never answers
test('an issuer that hangs is 503 after the deadline, and known keys stay in use', async () => {
  let isHanging = true;
  const key = await newKey('one');
  const jwks = await issuer((_, response) => {
    if (!isHanging) response.end(JSON.stringify({ keys: [key.jwk] }));
  });
  const options = { issuer: ISSUER, audience: AUDIENCE, jwks, timeoutMs: 50 };
  const { get, clock } = harness({ auth: { jwt: options } });
  const jwt = new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...CLAIMS }).setProtectedHeader({ alg: 'ES256', kid: 'one' });
  const token = await jwt.setExpirationTime(Math.floor(clock.now() / 1_000) + 86_400).sign(key.privateKey);
  const status = async () => (await get(JOBS, { Authorization: `Bearer ${token}` })).status;
  expect(await status()).toBe(503);
  isHanging = false;
  // Not asked again at once: a flood of tokens must not become a flood of fetches.
  expect(await status()).toBe(503);
  await clock.advance(30_000);
  expect(await status()).toBe(200);
  isHanging = true;
  await clock.advance(600_000);
  expect(await status()).toBe(200);
});

test.each([
  ['an error', (response: Parameters<RequestListener>[1]) => response.writeHead(500).end()],
  [
    'a redirect',
    (response: Parameters<RequestListener>[1]) => response.writeHead(302, { Location: 'http://127.0.0.1:1/' }).end(),
  ],
  ['no JSON', (response: Parameters<RequestListener>[1]) => response.end('<html>')],
  [
    'too much',
    (response: Parameters<RequestListener>[1]) => response.end(`{"keys":[],"x":"${'x'.repeat(1024 * 1024)}"}`),
  ],
])('an issuer that answers with %s makes no keys', async (_, answerWith) => {
  const { keys, signed } = await world();
  const jwks = await issuer((__, response) => void answerWith(response));
  const { get } = harness({ auth: { jwt: { issuer: ISSUER, audience: AUDIENCE, jwks } } });
  expect(keys).toHaveLength(1);
  expect((await get(JOBS, { Authorization: `Bearer ${await signed()}` })).status).toBe(503);
});

test('keys may be in a file', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-jwks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'jwks.json');
  const key = await newKey('one');
  writeFileSync(file, JSON.stringify({ keys: [key.jwk] }));
  const { signed, ask } = await world({ jwks: file });
  expect((await ask(await signed({}, key))).status).toBe(200);
});

test('a token whose end lies beyond all calendars counts, and its session says a time', async () => {
  const { signed, ask } = await world();
  for (const exp of [1e13, 1e300]) {
    const { status, body } = await ask(await signed({}, undefined, { exp }), '/auth/session');
    expect([status, body.expires_at]).toEqual([200, '2250-01-01T00:00:00.000Z']);
  }
});

// fault: the issuer takes a request and never answers, while its keys are old and known
test('requests with known keys do not wait for an issuer that hangs', async () => {
  let asked = Promise.withResolvers<void>();
  let answer: ((response: Parameters<RequestListener>[1]) => void) | undefined;
  const key = await newKey('one');
  const other = await newKey('two');
  const set = (...keys: Key[]) => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
  answer = (response) => response.end(set(key));
  const open: Parameters<RequestListener>[1][] = [];
  const jwks = await issuer((_, response) => {
    if (answer) answer(response);
    else open.push(response);
    asked.resolve();
  });
  // Longer than the test may take: a request that waits for the issuer fails it.
  const { get, clock } = harness({ auth: { jwt: { issuer: ISSUER, audience: AUDIENCE, jwks, timeoutMs: 600_000 } } });
  const tokenOf = async ({ kid, privateKey }: Key) =>
    new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...CLAIMS })
      .setProtectedHeader({ alg: 'ES256', kid })
      .setExpirationTime(Math.floor(clock.now() / 1_000) + 86_400)
      .sign(privateKey);
  const [token, newer] = [await tokenOf(key), await tokenOf(other)];
  const status = async (one = token) => (await get(JOBS, { Authorization: `Bearer ${one}` })).status;
  expect(await status()).toBe(200);
  answer = undefined;
  asked = Promise.withResolvers();
  await clock.advance(600_000);
  for (let call = 0; call < 3; call += 1) expect(await status()).toBe(200);
  await asked.promise;
  expect(open).toHaveLength(1);
  // A token of a key that is not known does wait, and counts as soon as the issuer answers.
  const waits = status(newer);
  open[0]!.end(set(key, other));
  expect(await waits).toBe(200);
});

// fault: the issuer has withdrawn a key while the server had no requests for long
test('keys that are very old are not trusted before they were renewed', async () => {
  const { keys, signed, ask, clock } = await world();
  const token = await signed({}, undefined, { exp: 86_400 });
  expect((await ask(token)).status).toBe(200);
  keys[0] = await newKey('two');
  await clock.advance(1_200_000);
  expect((await ask(token)).status).toBe(401);
});

// fault: the clock of the issuer is behind, so that a token has ended here when it is shown
test('a session of a token lasts as long as the token: to its end, and the half minute that clocks may be apart', async () => {
  const { signed, post, get, clock } = await world();
  const begun = await post('/auth/session', { key: await signed() });
  expect(begun.headers.get('Set-Cookie')).toContain('Max-Age=330;');
  const late = await post('/auth/session', { key: await signed({}, undefined, { exp: -10 }) });
  const [Cookie, lateCookie] = [begun, late].map(({ headers }) => headers.get('Set-Cookie')!.split(';', 1)[0]!);
  const status = async (cookie = Cookie!) => (await get(JOBS, { Cookie: cookie })).status;
  expect([await status(), await status(lateCookie)]).toEqual([200, 200]);
  await clock.advance(20_000);
  expect([await status(), await status(lateCookie)]).toEqual([200, 401]);
  await clock.advance(309_999);
  expect(await status()).toBe(200);
  await clock.advance(1);
  expect(await status()).toBe(401);
});

describe('a token that does not name its key', () => {
  const unnamed = async ({ seconds }: Made, { privateKey, alg }: Key) =>
    new SignJWT({ iss: ISSUER, aud: AUDIENCE, ...CLAIMS })
      .setProtectedHeader({ alg })
      .setExpirationTime(seconds() + 300)
      .sign(privateKey);

  test('counts while exactly one key of the issuer fits', async () => {
    const made = await world();
    made.keys.push(await newKey('rsa', 'RS256'));
    const token = await unnamed(made, made.keys[0]!);
    expect((await made.ask(token)).status).toBe(200);
    made.keys.push(await newKey('two'));
    await made.clock.advance(30_000);
    await made.ask(await made.signed({}, made.keys[2]!));
    expect((await made.ask(token)).status).toBe(401);
    expect(made.log.at(-1)).toMatchObject({ fields: { reason: 'token_signer' } });
  });

  test('counts also after the issuer has changed that key', async () => {
    const made = await world();
    expect((await made.ask(await unnamed(made, made.keys[0]!))).status).toBe(200);
    made.keys[0] = await newKey('two');
    await made.clock.advance(30_000);
    expect((await made.ask(await unnamed(made, made.keys[0]!))).status).toBe(200);
    expect(made.fetches()).toBe(2);
  });
});

// fault: another file stands where the keys of the issuer are expected
test('nothing of a file that holds no keys reaches an error or the log', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'waybill-jwks-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = path.join(folder, 'jwks.json');
  writeFileSync(file, 'hunter2');
  const jwt = { issuer: ISSUER, audience: AUDIENCE, jwks: file };
  const refused = await new JwtVerifier(jwt, systemClock).ready().catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: 'invalid_request', message: expect.stringContaining(file) });
  const { get, log } = harness({ auth: { jwt } });
  const { signed } = await world();
  expect((await get(JOBS, { Authorization: `Bearer ${await signed()}` })).status).toBe(503);
  expect(inspect([refused, log], { depth: 10 })).not.toContain('hunt');
});
