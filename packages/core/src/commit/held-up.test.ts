import { expect, onTestFinished, test, vi } from 'vitest';
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

test('B4: however many wait for a key, one asks for it in a round, and all go together once it is free', async () => {
  const { held, batches, commit } = bench();
  held.add('a');
  const first = commit.run('a 0');
  await commit.run('b 0');
  const waiting = Array.from({ length: 300 }, (_, n) => commit.run(`a ${n + 1}`));
  // Of another key, and behind all of them in the line.
  held.add('c');
  const other = commit.run('c 1');
  await commit.run('b 1');
  held.delete('c');
  expect(await other).toBe('c 1 done');
  const asked = batches.flat().filter((item) => item.startsWith('a')).length;
  expect(asked).toBeLessThan(100);
  held.clear();
  await Promise.all([first, ...waiting]);
  await commit.idle();
  const together = batches.filter((batch) => batch.every((item) => item.startsWith('a')) && batch.length > 1);
  expect(together.length).toBeLessThanOrEqual(4);
  expect(together.flat().length).toBeGreaterThanOrEqual(299);
});

test('B4: a call that is held up again and again is refused when its patience is over, with what it heard', async () => {
  const { held, commit } = bench();
  held.add('a');
  const calls = ['a 1', 'a 2'].map((item) => commit.run(item));
  const realNow = performance.now.bind(performance);
  await commit.run('b 1');
  const later = vi.spyOn(performance, 'now').mockImplementation(() => realNow() + 31_000);
  onTestFinished(() => later.mockRestore());
  for (const call of calls) await expect(call).rejects.toMatchObject({ code: 'unavailable' });
  await commit.idle();
});

test('B4: a batch that a lock holds up is taken apart by keys, not item by item', async () => {
  const { held, batches, commit } = bench();
  held.add('a');
  const waiting = Array.from({ length: 60 }, (_, n) => commit.run(`a ${n}`));
  const free = commit.run('b 1');
  expect(await free).toBe('b 1 done');
  expect(batches.length).toBeLessThan(6);
  held.clear();
  await Promise.all(waiting);
});
