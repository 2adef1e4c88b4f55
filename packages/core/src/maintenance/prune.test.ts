import { expect, test } from 'vitest';
import { resolveOptions } from '../options.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { PruneRequest } from '../store/prune.ts';
import type { Store } from '../store/store.ts';
import { TestClock } from '../testing/test-clock.ts';
import { pruneAll } from './prune.ts';

const DAY_MS = 86_400_000;
const NEVER = new AbortController().signal;

function watched(answers: Awaited<ReturnType<Store['prune']>>[]): { store: Store; asked: PruneRequest[] } {
  const asked: PruneRequest[] = [];
  const store: Store = {
    ...memoryStore({ clock: new TestClock() }),
    prune: async (request) => {
      asked.push(request);
      return answers[Math.min(asked.length, answers.length) - 1]!;
    },
  };
  return { store, asked };
}

test('A22: what nobody uses is kept as long as the longest other retention, at least', async () => {
  const unusedFor = async (retention: Parameters<typeof resolveOptions>[0]['retention']) => {
    const { store, asked } = watched([{ jobs: 0, events: 0, more: false }]);
    await pruneAll(store, resolveOptions({ store, ...(retention && { retention }) }).retention, NEVER);
    return (store.clock.now() - asked[0]!.unusedBefore!) / DAY_MS;
  };
  expect(await unusedFor(undefined)).toBe(90);
  expect(await unusedFor({ deadMs: DAY_MS })).toBe(30);
  expect(await unusedFor({ deadMs: DAY_MS, unusedMs: 1_000 })).toBe(7);
  expect(await unusedFor({ unusedMs: 365 * DAY_MS })).toBe(365);
});

// fault: one part of the store cannot be pruned, in every call
test('A22: a part that fails is reported, after the others have been pruned to their end', async () => {
  const failed = [{ part: 'workers', reason: 'It broke.' }];
  const { store, asked } = watched([
    { jobs: 5, events: 0, more: true, failed },
    { jobs: 0, events: 5, more: true, failed },
    { jobs: 0, events: 0, more: true, failed },
  ]);
  await expect(pruneAll(store, resolveOptions({ store }).retention, NEVER)).rejects.toThrow('Old workers: It broke.');
  expect(asked).toHaveLength(3);
});
