import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchQueue } from './queue.ts';
import { elapsed } from './result.ts';

const ASK_EVERY_MS = 2;

/** Handlers end before their outcomes are written, so the database is asked until it knows of no unfinished job. */
export async function untilIdle(queue: BenchQueue): Promise<void> {
  while (await queue.busy()) await sleep(ASK_EVERY_MS);
}

/** Seconds from the start of a worker until the last of so many jobs is finished in the database. */
export async function drained(queue: BenchQueue, jobs: number): Promise<number> {
  let began = 0;
  const all = Promise.withResolvers<void>();
  const begun = performance.now();
  const worker = await queue.work(() => {
    began += 1;
    if (began === jobs) all.resolve();
  });
  await all.promise;
  await untilIdle(queue);
  const seconds = elapsed(begun);
  await worker.stop();
  mustBe('handlers run', began, jobs);
  return seconds;
}

/** No figure is of work that was not done. */
export function mustBe(what: string, actual: number, expected: number): void {
  if (actual !== expected) throw new Error(`${what}: ${actual} instead of ${expected}, so the figure would be false.`);
}
