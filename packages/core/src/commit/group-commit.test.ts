import { expect, onTestFinished, test, vi } from 'vitest';
import { WaybillError } from '../errors.ts';
import { GroupCommit } from './group-commit.ts';

/** A flush that the test lets through by hand, so that it decides what arrives meanwhile. */
function gated() {
  const batches: number[][] = [];
  const gates: (() => void)[] = [];
  const flush = (items: readonly number[]): Promise<number[]> => {
    batches.push([...items]);
    return new Promise((resolve) => gates.push(() => resolve(items.map((item) => item * 10))));
  };
  const open = async () => {
    while (gates.length === 0) await nextTurn();
    gates.shift()!();
  };
  return { batches, flush, open };
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

test('calls of one turn share a flush and each gets its own answer', async () => {
  const batches: number[][] = [];
  const commit = new GroupCommit<number, number>({
    maxItems: 100,
    parallel: 1,
    flush: async (items) => {
      batches.push([...items]);
      return items.map((item) => item * 10);
    },
  });
  expect(await Promise.all([commit.run(1), commit.run(2), commit.run(3)])).toEqual([10, 20, 30]);
  expect(batches).toEqual([[1, 2, 3]]);
});

test('an eager flush is under way before the turn ends, and still takes what was called together', async () => {
  const { batches, flush, open } = gated();
  const commit = new GroupCommit<number, number>({ maxItems: 100, parallel: 1, eager: true, flush });
  const calls = [commit.run(1), commit.run(2)];
  const turn = nextTurn();
  await null;
  await null;
  expect(batches).toEqual([[1, 2]]);
  await turn;
  await open();
  expect(await Promise.all(calls)).toEqual([10, 20]);
});

test('what arrives during a flush waits for the next one, oldest first, in bounded batches', async () => {
  const { batches, flush, open } = gated();
  const commit = new GroupCommit<number, number>({ maxItems: 2, parallel: 1, flush });
  const first = commit.run(1);
  await nextTurn();
  const others = [2, 3, 4].map((item) => commit.run(item));
  await nextTurn();
  expect(batches).toEqual([[1]]);
  await open();
  await open();
  await open();
  await Promise.all([first, ...others]);
  expect(batches).toEqual([[1], [2, 3], [4]]);
});

test('a batch stays under its size in bytes, unless one item alone is larger', async () => {
  const batches: number[][] = [];
  const commit = new GroupCommit<number, number>({
    maxItems: 100,
    parallel: 1,
    sizeOf: (item) => item,
    maxBytes: 10,
    flush: async (items) => {
      batches.push([...items]);
      return [...items];
    },
  });
  await Promise.all([4, 5, 6, 50, 1].map((item) => commit.run(item)));
  expect(batches).toEqual([[4, 5], [6], [50], [1]]);
});

test('an unexpected error halves the batch until the bad item fails alone', async () => {
  const commit = new GroupCommit<number, number>({
    maxItems: 100,
    parallel: 1,
    flush: async (items) => {
      if (items.includes(3)) throw new Error('three is bad');
      return [...items];
    },
  });
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => commit.run(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
});

test('a store that is unavailable for a moment is asked again, with the whole batch', async () => {
  let calls = 0;
  const commit = new GroupCommit<number, number>({
    maxItems: 100,
    parallel: 1,
    flush: async (items) => {
      calls += 1;
      if (calls === 1) throw new WaybillError('unavailable', 'one moment');
      return [...items];
    },
  });
  expect(await Promise.all([commit.run(1), commit.run(2)])).toEqual([1, 2]);
  expect(calls).toBe(2);
});

test('a store that stays unavailable fails the batch after a bounded number of tries', async () => {
  let calls = 0;
  const commit = new GroupCommit<number, number>({
    maxItems: 100,
    parallel: 1,
    flush: () => {
      calls += 1;
      return Promise.reject(new WaybillError('unavailable', 'gone'));
    },
  });
  const results = await Promise.allSettled([commit.run(1), commit.run(2)]);
  expect(results.every(({ status }) => status === 'rejected')).toBe(true);
  expect(calls).toBe(3);
});

test('B1: a flush that failed slowly is not repeated, so that a call ends within the time of its store', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  let calls = 0;
  const flush = () => {
    calls += 1;
    vi.advanceTimersByTime(10_000);
    return Promise.reject(new WaybillError('unavailable', 'gone'));
  };
  const commit = new GroupCommit<number, number>({ maxItems: 100, parallel: 1, flush });
  await expect(commit.run(1)).rejects.toMatchObject({ code: 'unavailable' });
  expect(calls).toBe(1);
});

test('idle resolves when nothing waits and nothing is under way', async () => {
  const { flush, open } = gated();
  const commit = new GroupCommit<number, number>({ maxItems: 1, parallel: 1, flush });
  await commit.idle();
  const call = commit.run(1);
  let idle = false;
  const waiting = commit.idle().then(() => {
    idle = true;
  });
  await nextTurn();
  expect(idle).toBe(false);
  await open();
  await call;
  await waiting;
  expect(idle).toBe(true);
});

test('a caller that makes one call after another leaves turns to timers and sockets', async () => {
  const commit = new GroupCommit<number, number>({ maxItems: 100, parallel: 1, flush: async (items) => [...items] });
  let isTurnOver = false;
  setImmediate(() => {
    isTurnOver = true;
  });
  for (let calls = 0; calls < 1_000 && !isTurnOver; calls += 1) await commit.run(calls);
  expect(isTurnOver).toBe(true);
});
