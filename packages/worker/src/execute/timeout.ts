import { type Clock, WaybillError } from '@waybill/core';
import type { Validated } from './pipeline.ts';
import type { RunControl } from './run-control.ts';
import type { Runner } from './runner.ts';

/** Given as the reason of our own signals: without one, each abort makes an exception that nobody looks at. */
const OVER = 'over';
const noTimer = () => {};

/**
 * Aborts the run when its time is over, and returns what stops that. Counted from the claim, as the server does; a job
 * that names no timeout gets its task's, from now. At the timeout of a job the server ends the run too, and takes no more
 * from its worker: a run that takes time to end is aborted a little earlier, so that its last words arrive.
 */
export function startTimeout(
  { lease: { job }, task }: Validated,
  control: RunControl,
  clock: Clock,
  { abortGraceMs = 0 }: Pick<Runner, 'abortGraceMs'>,
): () => void {
  const ms = job.timeoutMs ?? task.policy.timeout ?? null;
  if (ms === null) return noTimer;
  const early = job.timeoutMs === null ? 0 : Math.min(abortGraceMs / 4, ms / 10);
  const until = (job.timeoutMs === null ? clock.monotonic() : control.claimedAt) + ms - early;
  const over = new AbortController();
  const late = () => new WaybillError('timeout', `Task '${task.name}' exceeded its timeout of ${ms} ms.`);
  void sleepUntil(until, clock, over.signal).then(() => {
    if (!over.signal.aborted) control.abort(late());
  });
  return () => over.abort(OVER);
}

/** A timer may be shorter than asked for: none lasts longer than 25 days. */
async function sleepUntil(until: number, clock: Clock, over: AbortSignal): Promise<void> {
  while (!over.aborted && clock.monotonic() < until) await clock.sleep(until - clock.monotonic(), over);
}
