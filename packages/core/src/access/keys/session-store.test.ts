import { expect, test } from 'vitest';
import { SYSTEM_TENANT } from '../../store/records.ts';
import { testEngine } from '../../testing/test-engine.ts';
import { scoped } from '../scoped.ts';

const content = { of: 'ada' };

test('a session is found by its token until it ends', async () => {
  const { waybill, clock } = testEngine();
  const sessions = waybill.keys!.sessions!;
  const { token } = await sessions.create(() => content, clock.now() + 1_000);
  expect(await sessions.find(token)).toEqual(content);
  expect(await sessions.find(token.replace(/^./, (letter) => (letter === 'A' ? 'B' : 'A')))).toBeNull();
  expect(await sessions.find('not a token')).toBeNull();
  await clock.advance(1_000);
  expect(await sessions.find(token)).toBeNull();
  const { token: second } = await sessions.create(() => content, clock.now() + 1_000);
  await sessions.end(second);
  await sessions.end(second);
  expect(await sessions.find(second)).toBeNull();
});

test('the token is not stored', async () => {
  const { waybill, store, clock } = testEngine();
  const { token } = await waybill.keys!.sessions!.create(() => content, clock.now() + 1_000);
  const { items } = await store.records.list({ tenant: SYSTEM_TENANT, kind: 'session', limit: 10 });
  expect(items).toHaveLength(1);
  expect(JSON.stringify(items)).not.toContain(token);
});

test('only the server itself has sessions', () => {
  const { waybill } = testEngine();
  const admin = scoped(waybill, { id: 'a', tenant: 'acme', scopes: ['admin'] });
  expect(admin.keys!.sessions).toBeUndefined();
});
