import { evolve, type Transition } from './evolve.ts';
import { finish } from './finish.ts';
import { type GateCommand, gate, isGate } from './gate.ts';
import { isFinished, type Job } from './job.ts';
import { endWithoutRun, type NodeEnd } from './node-end.ts';
import type { ErrorInput, Outcome } from './outcome.ts';
import { boundedMoment, seqAt } from './rank.ts';
import { discard, isPast, settle, timeOut, waiting } from './settle.ts';
import { tick } from './tick.ts';

export type Command =
  | { do: 'claim'; claimId: string; workerId: string; leaseMs: number }
  | { do: 'extend'; leaseMs: number | null }
  | { do: 'settle'; outcome: Outcome }
  | { do: 'cancel'; by?: string; reason?: string }
  /** `notBefore`: it waits for that moment, where it lies ahead. */
  | { do: 'activate'; notBefore?: number }
  /** A node ends without having run. */
  | { do: 'end'; end: NodeEnd }
  | GateCommand
  | { do: 'replay' }
  /** Ends what will not come to an end by itself, as a failure. Not while a worker holds it. */
  | { do: 'give_up'; error: ErrorInput }
  | { do: 'forget' }
  | { do: 'advanced' }
  | { do: 'reinstate' }
  | { do: 'look' }
  | { do: 'put_off'; until: number; reason: string }
  | { do: 'sleep'; run: number; until: number }
  | { do: 'wake'; run: number }
  | { do: 'tick' };

/**
 * The only place with lifecycle rules. Pure: the same row, command and time always give the same answer, on every
 * server and in every test. Null means that the command does not fit the row's state, and nothing shall change.
 */
export function transition(job: Job, command: Command, now: number): Transition | null {
  switch (command.do) {
    case 'claim':
      return claim(job, command, now);
    case 'extend':
      return extend(job, command.leaseMs, now);
    case 'settle':
      return job.state === 'active' ? settleInTime(job, command.outcome, now) : null;
    case 'cancel':
      return cancel(job, command, now);
    case 'activate':
      return job.state === 'pending' && !isGate(job) ? activate(job, command.notBefore, now) : null;
    case 'end':
      return job.state === 'pending' ? endWithoutRun(job, command.end, now) : null;
    case 'open':
    case 'signal':
    case 'approve':
    case 'revise':
      return gate(job, command, now);
    case 'give_up':
      return isGivable(job, now) ? discard(job, command.error, now) : null;
    case 'replay':
      return isReplayable(job) ? replay(job, now) : null;
    case 'forget':
      return job.dead ? evolve(job, { dead: false }, [], now) : null;
    case 'advanced':
      return job.advancePending ? evolve(job, { advancePending: false }, [], now) : null;
    case 'look':
      return job.state === 'pending' ? evolve(job, { advancePending: true }, [], now) : null;
    case 'reinstate':
      return job.state === 'cancelled' ? reinstate(job, now) : null;
    case 'tick':
      return tick(job, now);
    case 'put_off':
      return putOff(job, command, now);
    case 'sleep':
      return sleeps(job, command.run) ? evolve(job, waiting(job, boundedMoment(command.until, now)), [], now) : null;
    case 'wake':
      return sleeps(job, command.run) ? wake(job, now) : null;
  }
}

/** What stores do in their own language for speed; a contract test holds them to this. */
function claim(job: Job, command: Extract<Command, { do: 'claim' }>, now: number): Transition | null {
  if (job.rank === null) return null;
  if (job.expiresAt !== null && job.expiresAt <= now) return null;
  const leaseMs = job.visibilityMs ?? command.leaseMs;
  const timeoutAt = job.timeoutMs === null ? null : now + job.timeoutMs;
  return evolve(
    job,
    {
      state: 'active',
      run: job.run + 1,
      attempt: job.attempt + 1,
      claimId: command.claimId,
      workerId: command.workerId,
      outcome: null,
      leaseMs,
      leaseUntil: now + leaseMs,
      timeoutAt,
      startedAt: now,
    },
    [['job.started', { worker_id: command.workerId }]],
    now,
  );
}

/**
 * A heartbeat never extends past the execution timeout, and a late one never shortens what a newer one gave. It leaves
 * no event, so the version stays.
 */
function extend(job: Job, leaseMs: number | null, now: number): Transition | null {
  if (job.state !== 'active') return null;
  const asked = Math.max(now + (leaseMs ?? job.leaseMs ?? 0), job.leaseUntil ?? 0);
  const leaseUntil = job.timeoutAt === null ? asked : Math.min(asked, job.timeoutAt);
  return evolve(job, { leaseUntil }, [], now);
}

/**
 * Past its execution timeout a run has failed, whatever its worker says and whether the sweep has been there yet or
 * not. That it failed is all that is still heard.
 */
function settleInTime(job: Job, outcome: Outcome, now: number): Transition | null {
  if (!isPast(job.timeoutAt, now)) return settle(job, outcome, now);
  return outcome.kind === 'failed' ? timeOut(job, now, evidenceOf(outcome)) : null;
}

/** A worker that has ended the run for the same reason knows what it used. */
const evidenceOf = ({ error }: Extract<Outcome, { kind: 'failed' }>): ErrorInput['details'] =>
  error.code === 'timeout' ? error.details : undefined;

function cancel(job: Job, command: Extract<Command, { do: 'cancel' }>, now: number): Transition | null {
  if (isFinished(job.state)) return null;
  const told = {
    ...(command.by === undefined ? {} : { cancelled_by: command.by }),
    ...(command.reason === undefined ? {} : { reason: command.reason }),
  };
  return finish(job, { state: 'cancelled', outcome: 'cancelled' }, [['job.cancelled', told]], now);
}

/** A run whose lease has ended is held by nobody, whether or not the sweep has seen that. */
const isGivable = ({ state, leaseUntil }: Job, now: number): boolean =>
  state === 'active' ? isPast(leaseUntil, now) : !isFinished(state);

/** A job that was also scheduled keeps waiting for its time. */
function activate(job: Job, notBefore: number | undefined, now: number): Transition {
  const asked = Math.max(job.scheduledAt ?? now, notBefore === undefined ? now : boundedMoment(notBefore, now));
  if (asked > now) {
    const due = { scheduled_at: new Date(asked).toISOString() };
    // It stands in line by the time it is due, as a job does that was born scheduled.
    const seq = asked === job.scheduledAt ? job.seq : seqAt(asked, job.seq);
    return evolve(job, { state: 'scheduled', scheduledAt: asked, seq }, [['job.scheduled', due]], now);
  }
  return evolve(job, { state: 'available', enqueuedAt: now, scheduledAt: null }, [['job.enqueued']], now);
}

/**
 * Every finished job can run again. A node of a workflow only when it was discarded: a completed one has let its
 * dependents start, and a cancelled one waits for its parents again when the workflow is resumed.
 */
const isReplayable = ({ state, workflowId }: Job): boolean =>
  isFinished(state) && (state === 'discarded' || workflowId === null);

/** A finished job starts over: attempts are given back, runs and the error history stay. */
function replay(job: Job, now: number): Transition {
  if (job.spec.rules?.map) return waitAgain(job, { result: null }, now);
  if (isGate(job)) return waitAgain(job, {}, now);
  const fresh = { state: 'available', attempt: 0, dead: false, enqueuedAt: now, scheduledAt: null } as const;
  const cleared = {
    outcome: null,
    result: null,
    finishedAt: null,
    startedAt: null,
    retryDelayMs: null,
    expiresAt: null,
    advancePending: false,
  };
  return evolve(job, { ...fresh, ...cleared }, [['job.replayed'], ['job.enqueued']], now);
}

/** A map or a gate has no run of its own: the engine looks at it again. */
function waitAgain(job: Job, more: { result?: null }, now: number): Transition {
  const again = { ...WAITS, ...more, dead: false, advancePending: true };
  return evolve(job, again, [['job.replayed'], ['job.pending']], now);
}

const WAITS = { state: 'pending', outcome: null, finishedAt: null, startedAt: null } as const;

/** A workflow node that was cancelled because of others' failure waits again for its parents. */
function reinstate(job: Job, now: number): Transition {
  return evolve(job, { ...WAITS, advancePending: false }, [['job.pending']], now);
}

/** Snoozed by this very run, and nothing has happened to the job since. */
export const sleeps = ({ state, outcome, run }: Job, ofRun: number): boolean =>
  state === 'retryable' && outcome === 'snoozed' && run === ofRun;

/** What a snoozed job waited for has come before its time. It stands in line as if it had been due now. */
function wake(job: Job, now: number): Transition {
  const patch = { state: 'available', enqueuedAt: now, scheduledAt: null, seq: seqAt(now, job.seq) } as const;
  return evolve(job, patch, [['job.enqueued']], now);
}

/**
 * The engine could not do what was due for this row, and will look again later. Not while a run is under way: its worker
 * writes the whole row when it settles, and counts on nobody else having written an event.
 */
function putOff(job: Job, { until, reason }: Extract<Command, { do: 'put_off' }>, now: number): Transition | null {
  if (job.nextAt === null || job.state === 'active') return null;
  const nextAt = boundedMoment(until, now);
  const told = { reason, next_try_at: new Date(nextAt).toISOString() };
  const { job: after, events } = evolve(job, {}, [['job.maintenance_failed', told]], now);
  return { job: { ...after, nextAt }, events };
}
