import type { Json } from '../json.ts';
import type { Transition } from './evolve.ts';
import { finish } from './finish.ts';
import type { Job } from './job.ts';
import type { ErrorInput } from './outcome.ts';
import { errorOf, giveUp } from './settle.ts';

/**
 * How a node of a workflow ends that no worker gets. `skipped`: its rules say that it does not run. `gathered`: the jobs of
 * a map have all completed. `passed`: its signal has come, or its review was approved. `failed`: its rules cannot be followed; no dead letter, since running it again changes nothing.
 */
export type NodeEnd =
  | { kind: 'skipped'; reason: string }
  | { kind: 'gathered'; results: Json[] }
  | { kind: 'passed'; result: Json }
  | { kind: 'failed'; error: ErrorInput };

export function endWithoutRun(job: Job, end: NodeEnd, now: number): Transition {
  switch (end.kind) {
    case 'skipped':
      return finish(
        job,
        { state: 'completed', outcome: 'skipped', result: null },
        [['job.skipped', { reason: end.reason }]],
        now,
      );
    case 'gathered': {
      const told = { duration_ms: 0, items: end.results.length };
      return finish(
        job,
        { state: 'completed', outcome: 'completed', result: end.results },
        [['job.completed', told]],
        now,
      );
    }
    case 'passed': {
      const told = { duration_ms: Math.max(0, now - (job.startedAt ?? now)) };
      return finish(
        job,
        { state: 'completed', outcome: 'completed', result: end.result },
        [['job.completed', told]],
        now,
      );
    }
    case 'failed':
      return giveUp(job, 'failed', errorOf(job, end.error, now), false, now);
  }
}
