import { expect, test } from 'vitest';
import { WaybillError } from '../errors.ts';
import { LOCK_HELD } from '../store/lock-held.ts';
import { GroupCommit } from './group-commit.ts';

/** A store in which other transactions hold some keys; an item is its key and a number. */
function bench() {
  const held = new Set<string>();
  const batches: string[][] = [];
  const keyOf = (item: string) => item.split(' ')[0]!;
  const commit = new GroupCommit<string, string>({
    maxItems: 100,
    parallel: 2,
    keysOf: (item) => [keyOf(item)],
    flush: async (items) => {
      batches.push([...items]);
      if (!items.some((item) => held.has(keyOf(item)))) return items.map((item) => `${item} done`);
      throw new WaybillError('unavailable', 'A lock is held.', { details: { reason: LOCK_HELD } });
    },
  });
  return { held, batches, commit };
}

test('B4: the items that a lock holds up wait by themselves, the others of their batch are written', async () => {
  const { held, batches, commit } = bench();
  held.add('a');
  const waiting = ['a 1', 'a 2', 'a 3'].map((item) => commit.run(item));
  expect(await Promise.all(['b 1', 'c 1'].map((item) => commit.run(item)))).toEqual(['b 1 done', 'c 1 done']);
  // By now the key is known: who needs it joins those that wait, and spoils no batch.
  const before = batches.length;
  const late = commit.run('a 4');
  expect(await commit.run('b 2')).toBe('b 2 done');
  expect(batches.slice(before).filter((batch) => batch.length > 1)).toEqual([]);
  held.clear();
  expect(await Promise.all([...waiting, late])).toEqual(['a 1', 'a 2', 'a 3', 'a 4'].map((item) => `${item} done`));
  await commit.idle();
});

test('B4: a commit is idle only when nothing is held up any more', async () => {
  const { held, commit } = bench();
  held.add('a');
  const call = commit.run('a 1');
  let isIdle = false;
  const idle = commit.idle().then(() => {
    isIdle = true;
  });
  await commit.run('b 1');
  expect(isIdle).toBe(false);
  held.clear();
  expect(await call).toBe('a 1 done');
  await idle;
});
