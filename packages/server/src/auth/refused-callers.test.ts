import type { KeyRequest } from '@waybill/core';
import { expect, test } from 'vitest';
import { givenKeys } from '../keys/given-keys.ts';
import { type Harness, harness } from '../testing/harness.ts';
import { MOST_ADDRESSES, MOST_LINES, MOST_OF_ADDRESS } from './refused-callers.ts';

const JOBS = '/ojs/v1/jobs';
const DAY = 86_400_000;
const MINUTE = 60_000;
const READ: KeyRequest = { name: 'one', scopes: ['read'] };
const ADDRESS = '203.0.113.7';

const warnings = ({ log }: Harness) =>
  log.filter(({ level }) => level === 'warn').map(({ message, fields }) => ({ message, ...fields }));

/** As a server that knows where its clients are. */
const ask = async ({ app }: Harness, headers: Record<string, string> = {}, clientAddress = ADDRESS) =>
  (await app.request(JOBS, { headers: { 'X-Request-Id': 'r1', ...headers } }, { clientAddress })).status;

test('a refused key stands in the log with its address, its id and why, and never with its secret', async () => {
  const server = harness({ auth: {}, maintenance: false });
  const { waybill, clock } = server;
  const keys = waybill.keys!;
  const [revoked, expired, wrong] = [
    await keys.create(READ),
    await keys.create({ ...READ, expiresAt: clock.now() + DAY }),
    await keys.create(READ),
  ];
  await keys.revoke(revoked.key.id);
  await clock.advance(DAY);
  const unknown = 'wb_aaaaaaaaaaaa_'.padEnd(59, 'S');
  const almost = `${wrong.secret.slice(0, -4)}AAAA`;
  for (const secret of [revoked.secret, expired.secret, almost, unknown, 'not-a-key-at-all'])
    expect(await ask(server, { Authorization: `Bearer ${secret}` })).toBe(401);
  const line = { address: ADDRESS, request_id: 'r1', times: 1 };
  expect(warnings(server)).toEqual([
    { ...line, message: 'Refused a caller with 401: the key is revoked.', reason: 'key_revoked', key: revoked.key.id },
    { ...line, message: expect.stringContaining('has expired'), reason: 'key_expired', key: expired.key.id },
    { ...line, message: expect.stringContaining('another secret'), reason: 'key_wrong', key: wrong.key.id },
    { ...line, message: expect.stringContaining('no key with this id'), reason: 'key_unknown', key: 'aaaaaaaaaaaa' },
    { ...line, message: expect.stringContaining('no key of this server'), reason: 'no_key' },
  ]);
  const text = JSON.stringify(server.log);
  for (const secret of [revoked.secret, expired.secret, almost, unknown, 'not-a-key-at-all'])
    expect(text).not.toContain(secret.slice(-20));
});

test('nothing shown, a session that is over, a login and a hook have reasons of their own', async () => {
  const server = harness({ auth: {} });
  await ask(server);
  await ask(server, { Cookie: `waybill_session=${'A'.repeat(43)}` }, '203.0.113.8');
  await server.post('/auth/session', { key: 'not-a-key-at-all' });
  expect(warnings(server)).toMatchObject([
    ...[{ reason: 'nothing_shown', address: ADDRESS }, { reason: 'session_over' }, { reason: 'no_key' }],
  ]);
  const hooked = harness({ principal: () => undefined as never });
  await ask(hooked, { Authorization: 'Bearer hello' });
  expect(warnings(hooked)).toMatchObject([{ reason: 'hook' }]);
});

test('a key of a list that has expired is told by its id', async () => {
  const secret = 'a-secret-of-24-characters';
  const text = JSON.stringify([{ id: 'ci', name: 'ci', scopes: ['read'], secret, expires_at: '2020-01-01T00:00:00Z' }]);
  const server = harness({ auth: { given: givenKeys({ text }) } });
  expect(await ask(server, { 'X-API-Key': secret })).toBe(401);
  expect(warnings(server)).toMatchObject([{ reason: 'key_expired', key: 'ci' }]);
});

test('an address and key is told once in a minute, then with how often it was refused', async () => {
  const server = harness({ auth: {} });
  for (let count = 0; count < 5; count += 1) await ask(server);
  expect(warnings(server)).toMatchObject([{ times: 1 }]);
  await server.clock.advance(MINUTE);
  await ask(server);
  expect(warnings(server)).toMatchObject([{ times: 1 }, { times: 5 }]);
});

test('one address cannot fill the log with ids that it makes up', async () => {
  const server = harness({ auth: {} });
  for (const letter of 'abcdefghijkmn')
    await ask(server, { 'X-API-Key': `wb_${letter.repeat(12)}_`.padEnd(59, 'S') }, '2001:db8::1');
  expect(warnings(server)).toHaveLength(MOST_OF_ADDRESS + 1);
  // The same household.
  await ask(server, { 'X-API-Key': 'wb_zzzzzzzzzzzz_'.padEnd(59, 'S') }, '2001:db8::2');
  expect(warnings(server)).toHaveLength(MOST_OF_ADDRESS + 1);
});

test('many addresses are told up to a bound of lines and addresses, and that there are more', async () => {
  const server = harness({ auth: {} });
  const from = (index: number) => ask(server, {}, `10.0.${index >> 8}.${index & 255}`);
  await from(0);
  for (let index = 0; index <= MOST_ADDRESSES; index += 1) await from(index);
  expect(warnings(server)).toHaveLength(MOST_LINES + 1);
  expect(warnings(server).at(-1)!.message).toContain('More callers are refused');
  // The first address is forgotten, so how often it was refused is too; the second one is not.
  await from(1);
  await server.clock.advance(MINUTE);
  await from(1);
  await from(0);
  expect(warnings(server).slice(-2)).toMatchObject([
    { address: '10.0.0.1', times: 2 },
    { address: '10.0.0.0', times: 1 },
  ]);
});

test('a caller that is let in costs the log nothing, and an unreachable store does not change the answer', async () => {
  const server = harness({ auth: {} });
  const { secret } = await server.waybill.keys!.create(READ);
  expect(await ask(server, { 'X-API-Key': secret })).toBe(200);
  expect(server.log).toEqual([]);
  const keys = { ...server.waybill.keys!, get: () => Promise.reject(new Error('away')) };
  const away = harness({ auth: {}, waybill: { ...server.waybill, keys } });
  expect(await ask(away, { 'X-API-Key': 'wb_aaaaaaaaaaaa_'.padEnd(59, 'S') })).toBe(401);
  expect(warnings(away)).toMatchObject([
    { reason: 'unknown', message: expect.stringContaining('cannot be looked up') },
  ]);
});

test.each([[{ user: 1 }], [true], [{ id: 'ada', tenant: 'a', scopes: ['root'] }], [{ id: 'ada', scopes: ['read'] }]])(
  'a hook that answers %j is a mistake of the server: 500, and logged',
  async (answer) => {
    const server = harness({ principal: () => answer as never });
    const { status, body } = await server.get(JOBS);
    expect([status, body.error.code]).toEqual([500, 'internal']);
    const [{ level, fields } = { level: '', fields: {} }] = server.log;
    expect([level, String(fields['err' as never])]).toEqual([
      'error',
      expect.stringContaining('The auth hook of this'),
    ]);
  },
);
