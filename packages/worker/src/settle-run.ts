import type { ErrorInput, Job, Outcome } from '@waybill/core';
import type { Deadlines } from './deadlines.ts';
import type { HeldRun } from './held-run.ts';
import type { ResolvedWorkerOptions } from './options.ts';
import { backoffMs, codeOf, mayRepeat } from './patience.ts';
import { type Failure, isFailure, tellFailure } from './tell-failure.ts';

export type SettleParts = Pick<ResolvedWorkerOptions, 'jobs' | 'clock' | 'logger'> & { deadlines: Deadlines };

/**
 * Writes what a run came to. Repeated until the server answers: the token makes a repetition harmless, and giving up
 * would make the job run again. `giveUp` is the end of the worker's own patience when it stops.
 */
export function settleRun(run: HeldRun, outcome: Outcome, parts: SettleParts, giveUp: AbortSignal): Promise<boolean> {
  // Without a frame of its own to wait in: nearly all are answered at once, and hundreds wait for the same flush.
  return settleOnce(run, outcome, parts).then(
    isFailure(outcome) ? (job) => failed(job, run, outcome, parts) : isSettled,
    (error: unknown) => settleAgain(run, outcome, error, parts, giveUp),
  );
}

const isSettled = (): boolean => true;

/** Told when it is settled, since only the answer says what comes next. */
function failed(job: Job, run: HeldRun, outcome: Failure, { logger }: SettleParts): boolean {
  tellFailure(job, run.fields, outcome, logger);
  return true;
}

/** Where the outcome could not be written, the log is the only place that has the reason. */
const reasonIn = (outcome: Outcome): { error?: ErrorInput } => (isFailure(outcome) ? { error: outcome.error } : {});

function settleOnce({ lease }: HeldRun, outcome: Outcome, { jobs, deadlines }: SettleParts): Promise<Job> {
  const { job, token } = lease;
  return deadlines.within(jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome }));
}

async function settleAgain(
  run: HeldRun,
  outcome: Outcome,
  first: unknown,
  parts: SettleParts,
  giveUp: AbortSignal,
): Promise<boolean> {
  const { clock, logger } = parts;
  let error = first;
  for (let failures = 1; ; failures += 1) {
    if (!mayRepeat(error)) return refused(run, outcome, error, parts, giveUp);
    if (failures === 1)
      logger.warn({ ...run.fields, ...reasonIn(outcome), err: error }, 'A run could not be settled; trying again.');
    await clock.sleep(backoffMs(failures), giveUp);
    if (giveUp.aborted) {
      logger.error(
        { ...run.fields, ...reasonIn(outcome), err: error },
        'A run was not settled; its job runs again when the lease ends.',
      );
      return false;
    }
    try {
      const job = await settleOnce(run, outcome, parts);
      return isFailure(outcome) ? failed(job, run, outcome, parts) : true;
    } catch (next) {
      error = next;
    }
  }
}

async function refused(
  run: HeldRun,
  outcome: Outcome,
  error: unknown,
  parts: SettleParts,
  giveUp: AbortSignal,
): Promise<boolean> {
  const code = codeOf(error) ?? 'internal';
  const message = error instanceof Error ? error.message : String(error);
  const { task } = run.fields;
  // In a queue that keeps nothing the job is gone with the handler's own commit.
  if (code === 'not_found' && run.isSettledByHandler) return true;
  if (code === 'lease_lost' || code === 'not_found' || code === 'conflict' || outcome.kind === 'failed') {
    const told = `The ${outcome.kind} run of task '${task}' came too late.`;
    parts.logger.warn({ ...run.fields, ...reasonIn(outcome), err: error }, told);
    return false;
  }
  // The server will not take this outcome, however often it is sent: say that instead of letting the lease run out.
  const told = `The ${outcome.kind} run of task '${task}' was refused.`;
  parts.logger.warn({ ...run.fields, ...reasonIn(outcome), err: error }, told);
  const failure: ErrorInput = { code, type: code, message, retryable: false };
  return settleRun(run, { kind: 'failed', error: failure }, parts, giveUp);
}
