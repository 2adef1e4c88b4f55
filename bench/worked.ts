import { setTimeout as sleep } from 'node:timers/promises';
import type { BenchQueue, BenchWorker } from './queue.ts';
import { elapsed, round } from './result.ts';

const ASK_EVERY_MS = 2;

/** Handlers end before their outcomes are written, so the database is asked until it knows of no unfinished job. */
export async function untilIdle(queue: BenchQueue): Promise<void> {
  while (await queue.busy()) await sleep(ASK_EVERY_MS);
}

/** No job began for so long although some were left: the start, how long, and what the worker had in hand at the end of it. */
export interface Stall {
  at_s: number;
  ms: number;
  running: number | null;
  waiting: number | null;
}

const STALL_MS = 500;

/** Seconds from the start of a worker until the last of so many jobs is finished in the database. */
export async function drained(queue: BenchQueue, jobs: number, stalls: Stall[] = []): Promise<number> {
  let began = 0;
  let lastAt = performance.now();
  let worker: BenchWorker | undefined;
  const all = Promise.withResolvers<void>();
  const begun = performance.now();
  worker = await queue.work(() => {
    const now = performance.now();
    if (now - lastAt > STALL_MS) {
      const { running = null, waiting = null } = worker ?? {};
      stalls.push({ at_s: round((lastAt - begun) / 1_000), ms: round(now - lastAt), running, waiting });
    }
    lastAt = now;
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
