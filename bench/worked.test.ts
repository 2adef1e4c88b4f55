import { expect, test } from 'vitest';
import { type BenchQueue, type Payload, payload } from './queue.ts';
import { drained, mustBe } from './worked.ts';

/** A queue in memory whose worker runs every job so many times, and finishes it some questions later. */
function queueOf(jobs: number, { runs = 1, busyFor = 0 } = {}): BenchQueue & { asked: number } {
  const unused = () => Promise.reject(new Error('not used here'));
  return {
    asked: 0,
    ...{ enqueue: unused, enqueueMany: unused, counts: unused, close: unused },
    work: async (began: (payload: Payload) => void) => {
      for (let run = 0; run < jobs * runs; run += 1) began(payload());
      return { stop: async () => {} };
    },
    busy: async function () {
      this.asked += 1;
      return this.asked <= busyFor;
    },
  };
}

test('a drain ends when the database knows of no unfinished job, not when the last handler began', async () => {
  const queue = queueOf(10, { busyFor: 3 });
  await drained(queue, 10);
  expect(queue.asked).toBe(4);
});

test('a drain in which a job was run twice gives no figure', async () => {
  await expect(drained(queueOf(10, { runs: 2 }), 10)).rejects.toThrow('handlers run: 20 instead of 10');
});

test('a count that is not as expected is an error', () => {
  expect(() => mustBe('jobs left', 1, 0)).toThrow('jobs left: 1 instead of 0');
  expect(() => mustBe('jobs left', 0, 0)).not.toThrow();
});
