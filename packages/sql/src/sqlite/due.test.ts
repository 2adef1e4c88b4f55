import { DatabaseSync } from 'node:sqlite';
import { aCron, TestClock } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { add, openStore, tempFile } from './testing/temp-store.ts';

/** More than a number of JavaScript holds: whatever statement reads it fails as a whole. */
const TOO_LARGE = '1 << 60';

test.each([
  ['a cron that is due', `update crons set created_at = ${TOO_LARGE} where name = 'bad'`, ['bad']],
  ['a cron with a far moment', `update crons set next_at = ${TOO_LARGE} where name = 'bad'`, []],
  ['a job with a far moment', `update jobs set next_at = ${TOO_LARGE} where queue = 'bad'`, []],
])('A1: a number that is too large in %s hides nothing else that is due', async (_, damage, named) => {
  const path = tempFile();
  const clock = new TestClock();
  const store = await openStore({ path, clock });
  const scheduledAt = clock.now() + 1_000;
  const [good] = await add(store, { scheduledAt });
  await add(store, { scheduledAt: scheduledAt + 60_000, queue: 'bad' });
  for (const name of ['bad', 'good']) await store.crons.put(aCron({ name, nextAt: scheduledAt }));
  const db = new DatabaseSync(path);
  db.exec(damage);
  db.close();
  await clock.advance(1_000);
  const due = await store.due({ now: clock.now(), limit: 10 });
  expect(due.jobs).toMatchObject([{ id: good!.id }]);
  expect(due.crons.map(({ name }) => name)).toContain('good');
  expect(due.unreadable.map(({ id }) => id)).toEqual(named);
});
