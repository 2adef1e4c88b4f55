import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';

const made = { type: 'key.opened', data: { title: 'slow' } } as const;

test('a record is made, read, changed by version and removed, each with its event', async () => {
  const { waybill } = testEngine();
  const { put, get, list, remove } = waybill.records!;
  const key = { kind: 'key', id: 'i-1' };
  const first = await put({ ...key, value: { title: 'slow' }, expected: 0, fact: made });
  expect(await get('key', 'i-1')).toEqual(first);
  const second = await put({ ...key, value: { title: 'slower' }, expected: first.version });
  expect((await list({ kind: 'key', limit: 10 })).items).toEqual([second]);
  await remove('key', 'i-1', { expected: second.version, fact: { type: 'key.closed' } });
  await expect(get('key', 'i-1')).rejects.toMatchObject({ code: 'not_found' });
  const { events } = await waybill.events.read({ limit: 10 });
  expect(events.map(({ type, subject, sequence, data }) => ({ type, subject, sequence, data }))).toEqual([
    { ...made, subject: 'i-1', sequence: 1 },
    { type: 'key.closed', subject: 'i-1', sequence: 2, data: {} },
  ]);
});

test('a change of what was changed meanwhile is refused with a hint, and tells nothing', async () => {
  const { waybill } = testEngine();
  const { put, remove } = waybill.records!;
  const key = { kind: 'key', id: 'i-1' };
  const { version } = await put({ ...key, value: {}, expected: 0 });
  const conflict = { code: 'conflict', details: { kind: 'key', id: 'i-1', version } };
  await expect(put({ ...key, value: {}, expected: 0, fact: made })).rejects.toMatchObject(conflict);
  await expect(remove('key', 'i-1', { expected: 1, fact: made })).rejects.toMatchObject(conflict);
  await expect(remove('key', 'other')).rejects.toMatchObject({ code: 'not_found' });
  expect((await waybill.events.read({ limit: 10 })).events).toEqual([]);
});

test('tenants have their own, and whoever follows is told at once', async () => {
  const { waybill } = testEngine();
  const { put, list } = waybill.records!;
  const stop = new AbortController();
  const filter = { tenant: 'acme' };
  const stream = waybill.events.follow({ filter, signal: stop.signal })[Symbol.asyncIterator]();
  const next = stream.next();
  await put({ kind: 'key', id: 'i-1', value: {}, expected: 0, fact: made }, { tenant: 'acme' });
  expect((await next).value).toMatchObject({ type: 'key.opened', tenant: 'acme', subject: 'i-1' });
  expect((await list({ kind: 'key', limit: 10 })).items).toEqual([]);
  stop.abort();
});
