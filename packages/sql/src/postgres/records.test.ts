import { EXPIRED_KEPT_MS, silentLogger } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { postgresStore } from './store.ts';
import { startProxy } from './testing/proxy.ts';
import { execute, postgresUrl, tempSchema } from './testing/server.ts';

const KEY = { tenant: '', kind: 'note', id: 'n' };

async function storeBehindProxy() {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const proxy = await startProxy(url);
  const clock = new TestClock();
  const store = await postgresStore({ url: proxy.url, schema, clock, listen: false, logger: silentLogger });
  onTestFinished(() => store.close());
  return { store, clock, proxy, query: (text: string) => execute(url, text.replaceAll('{schema}', `"${schema}"`)) };
}

test('a call whose answer was lost is made again, and tells what it has done', async () => {
  const { store, proxy, query } = await storeBehindProxy();
  const { records, locks } = store;
  proxy.loseAnswerTo('.records as r');
  const [made] = await records.put([{ ...KEY, value: { n: 1 }, expected: 0 }]);
  expect(made).toMatchObject({ status: 'stored', record: { value: { n: 1 } } });
  proxy.loseAnswerTo('.records set');
  const [replaced] = await records.put([{ ...KEY, value: { n: 2 }, expected: made!.record!.version }]);
  expect(replaced).toMatchObject({ status: 'stored', record: { value: { n: 2 } } });
  expect(await records.get([KEY])).toEqual([replaced!.record]);
  proxy.loseAnswerTo('set value = null');
  expect(await records.remove(KEY, replaced!.record!.version)).toEqual({ status: 'removed' });
  proxy.loseAnswerTo('.locks as l');
  const lease = { name: 'l', owner: 'o', leaseMs: 1000 };
  expect(await locks.take(lease)).toMatchObject({ status: 'held', fence: 1 });
  proxy.loseAnswerTo('.locks set until');
  expect(await locks.release({ ...lease, fence: 1 })).toBe(true);
  expect(await locks.take(lease)).toMatchObject({ status: 'held', fence: 2 });
  // Each call was made on a connection that broke, and again on another one.
  expect(proxy.connections).toBeGreaterThan(5);
  expect(await query('select count(*)::int from {schema}.records')).toEqual([[1]]);
});

test('a removed record leaves no value behind, and pruning removes its row', async () => {
  const { store, clock, query } = await storeBehindProxy();
  const rows = () => query('select id, value from {schema}.records order by id');
  const put = (id: string, expiresAt: number | null) =>
    store.records.put([{ ...KEY, id, value: { secret: id }, expected: 0, expiresAt }]);
  await put('expires', clock.now() + 1000);
  await put('removed', null);
  await put('stays', null);
  await store.records.remove({ ...KEY, id: 'removed' });
  await clock.advance(1000);
  expect(await rows()).toEqual([
    ['expires', '{"secret":"expires"}'],
    ['removed', null],
    ['stays', '{"secret":"stays"}'],
  ]);
  await clock.advance(EXPIRED_KEPT_MS + 1);
  await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100 });
  expect(await rows()).toEqual([['stays', '{"secret":"stays"}']]);
});
