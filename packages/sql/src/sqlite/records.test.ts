import { DatabaseSync } from 'node:sqlite';
import { EXPIRED_KEPT_MS } from '@waybill/core';
import { TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { inChild, openStore, tempFile } from './testing/temp-store.ts';

const KEY = { tenant: '', kind: 'note', id: 'n' };

test('a removed record leaves no value behind, and pruning removes its row', async () => {
  const [path, clock] = [tempFile(), new TestClock()];
  const store = await openStore({ path, clock });
  const rows = () => {
    const db = new DatabaseSync(path, { readOnly: true });
    const found = db.prepare('select id, value from records order by id').all();
    db.close();
    return found.map(({ id, value }) => [id, value]);
  };
  const put = (id: string, expiresAt: number | null) =>
    store.records.put([{ ...KEY, id, value: { secret: id }, expected: 0, expiresAt }]);
  await put('expires', clock.now() + 1000);
  await put('removed', null);
  await put('stays', null);
  await store.records.remove({ ...KEY, id: 'removed' });
  await clock.advance(1000);
  expect(rows()).toEqual([
    ['expires', '{"secret":"expires"}'],
    ['removed', null],
    ['stays', '{"secret":"stays"}'],
  ]);
  await clock.advance(EXPIRED_KEPT_MS + 1);
  await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100 });
  expect(rows()).toEqual([['stays', '{"secret":"stays"}']]);
});

test('of two processes one holds a lock, and one makes a record', async () => {
  const path = tempFile();
  const store = await openStore({ path });
  const code = `
    const store = await sqliteStore({ path });
    const owner = 'process-' + process.pid;
    const lock = await store.locks.take({ name: 'l', owner, leaseMs: 600_000 });
    const [put] = await store.records.put([{ tenant: '', kind: 'note', id: 'n', value: { owner }, expected: 0 }]);
    await store.close();
    console.log(lock.status, put.status);`;
  const answers = (await Promise.all([1, 2].map(() => inChild(path, code)))).map((answer) => answer.split(' '));
  expect(answers.map(([lock]) => lock).sort()).toEqual(['held', 'taken']);
  expect(answers.map(([, put]) => put).sort()).toEqual(['conflict', 'stored']);
  expect(await store.locks.take({ name: 'l', owner: 'this', leaseMs: 1 })).toMatchObject({ status: 'taken' });
  expect(await store.records.get([KEY])).toMatchObject([{ value: { owner: expect.stringMatching(/^process-/) } }]);
});
