import type { AskCall, Lease } from '@waybill/core';
import { claimLoop } from './claim-loop.ts';
import { type ClaimTurns, SharedTurns, sameTurns } from './claim-turns.ts';
import { settledIn, settlingOf } from './execute/middleware.ts';
import { type Ended, execute, type Stages } from './execute/pipeline.ts';
import { runTask } from './execute/run-task.ts';
import type { Heartbeat } from './heartbeat.ts';
import { HeldRun, type HeldRuns } from './held-run.ts';
import type { Journaling } from './journal/journaling.ts';
import { loseAtLeaseEnd } from './lease-end.ts';
import type { LossWatch } from './loss-watch.ts';
import { MAX_CLAIM, type ResolvedWorkerOptions } from './options.ts';
import type { Bell } from './patience.ts';
import { QueueSlots } from './queue-slots.ts';
import type { RunnerQueues } from './runner-queues.ts';
import { type SettleParts, settleRun } from './settle-run.ts';
import { UnknownTasks } from './unknown-tasks.ts';

/** While runs take longer than this on average, jobs claimed ahead would only wait here. */
const AHEAD_BELOW_MS = 1_000;
const LARGE_STOCK = 32;
/** Weight of the newest run in the average. */
const NEWEST = 0.1;

/** What the loops of one worker share. */
export interface RunnerLoopParts extends ResolvedWorkerOptions {
  held: HeldRuns;
  heartbeat: Heartbeat;
  lossWatch: LossWatch;
  settling: SettleParts;
  journaling: Journaling;
  stopping: AbortSignal;
  /** Aborted when a stopping worker waits no longer for outcomes to be written. */
  giveUp: AbortSignal;
  /** Rings when a run has ended or was settled, or when the worker pauses, resumes or stops. */
  changed: Bell;
  /** Aborted while no jobs may be taken; a new one when that is over. */
  pause(): AbortSignal;
  /** The lease of a run is not ours any more. */
  lose(run: HeldRun): void;
}

/** Claims jobs for one runner, keeps those that wait for a slot, and takes each through the pipeline. */
export class RunnerLoop {
  readonly #parts: RunnerLoopParts;
  readonly #own: RunnerQueues;
  readonly #concurrency: number;
  /** Null: as the runs allow. */
  readonly #prefetch: number | null;
  readonly #turns: ClaimTurns;
  /** Undefined: no queue has a bound of its own, so that nothing is counted per queue. */
  readonly #slots: QueueSlots | undefined;
  readonly #stages: Stages<HeldRun, unknown>;
  readonly #settlers: ReturnType<typeof settlingOf>;
  readonly #waiting: HeldRun[] = [];
  #running = 0;
  /** Runs that have ended or are being handed back, and are not settled yet. */
  #settling = 0;
  #meanRunMs = Number.POSITIVE_INFINITY;

  constructor(own: RunnerQueues, prefetch: number | null, parts: RunnerLoopParts) {
    this.#parts = parts;
    this.#own = own;
    this.#concurrency = own.runner.concurrency;
    this.#prefetch = prefetch;
    const slots = new QueueSlots(own.queues);
    this.#slots = slots.isBounded ? slots : undefined;
    this.#turns = turnsOf(own, slots, parts);
    this.#stages = this.#makeStages();
    this.#settlers = settlingOf(parts.middleware);
  }

  /** Runs that have a slot of the runner. */
  get running(): number {
    return this.#running;
  }

  /** Jobs claimed and not yet started. */
  get waiting(): number {
    return this.#waiting.length;
  }

  get isIdle(): boolean {
    return this.#running + this.#settling === 0;
  }

  /** Claims until the worker stops. */
  claim(): Promise<void> {
    return claimLoop({
      ...this.#parts,
      turns: this.#turns,
      room: () => this.#room(),
      take: (leases) => this.#take(leases),
    });
  }

  /** Hands back the jobs that were not started. */
  handBackWaiting(): void {
    for (const run of this.#waiting.splice(0)) {
      this.#slots?.release(run.lease.job.queue);
      this.#handBack(run);
    }
  }

  /** The run must not be started any more. */
  forget(run: HeldRun): void {
    const index = this.#waiting.indexOf(run);
    if (index < 0) return;
    this.#waiting.splice(index, 1);
    this.#slots?.release(run.lease.job.queue);
  }

  /**
   * How many jobs to claim now. Half of a large stock is used up first: few large claims cost less than many small.
   * Runs that are only being settled need no slot any more, but a server that is slow to settle gets no more work.
   */
  #room(): number {
    const ahead = this.#prefetch ?? (this.#meanRunMs < AHEAD_BELOW_MS ? this.#concurrency : 0);
    const whole = this.#concurrency + ahead;
    if (ahead >= LARGE_STOCK && this.#waiting.length > ahead / 2) return 0;
    return this.#settling > whole ? 0 : Math.min(whole - this.#running - this.#waiting.length, MAX_CLAIM);
  }

  #take(leases: readonly Lease[]): void {
    const { clock, leaseMs, held, heartbeat, lossWatch, stopping, lose } = this.#parts;
    const now = clock.monotonic();
    for (const lease of leases) {
      const run = new HeldRun(lease, now, leaseMs);
      run.endsWithLease = this.#own.runner.endsWithLease ?? false;
      const older = held.get(run.id);
      if (older?.lease.token === lease.token) continue;
      if (older !== undefined) lose(older);
      held.add(run);
      heartbeat.notice(run);
      if (run.endsWithLease) void loseAtLeaseEnd(run, this.#parts);
      if (stopping.aborted) {
        this.#handBack(run);
        continue;
      }
      this.#slots?.take(lease.job.queue);
      this.#waiting.push(run);
    }
    if (leases.length > 0) lossWatch.notice();
    this.#startNext();
  }

  #startNext(): void {
    while (this.#running < this.#concurrency) {
      const run = this.#waiting.shift();
      if (run === undefined) return;
      run.startedAt = this.#parts.clock.monotonic();
      run.state = 'running';
      this.#running += 1;
      this.#untilSettled(run, execute(run, this.#stages));
    }
  }

  /** Once for all runs: whatever is made anew for each of them costs more than a short handler. */
  #makeStages(): Stages<HeldRun, unknown> {
    const { runner, tasks } = this.#own;
    const unknown = new UnknownTasks(runner.name, this.#parts);
    const parts = { ...this.#parts, workerId: this.#parts.id, runner };
    return {
      tasks,
      onUnknown: ({ lease }) => unknown.errorFor(lease.job),
      run: (validated, run) => runTask(validated, run, parts),
      settle: (ended, run) => this.#settle(ended, run),
    };
  }

  #settle({ outcome, isSettled = false, waitsFor }: Ended, run: HeldRun): Promise<unknown> {
    const { clock, changed } = this.#parts;
    const now = clock.monotonic();
    run.state = 'settling';
    this.#running -= 1;
    this.#settling += 1;
    this.#slots?.release(run.lease.job.queue);
    this.#note(now - run.startedAt);
    this.#startNext();
    changed.ring();
    this.#warnOfLateness(run, now);
    run.isSettledByHandler = isSettled;
    if (waitsFor !== undefined) return this.#settleAsleep(run, outcome, waitsFor);
    if (this.#settlers.length === 0) return this.#write(run, outcome);
    return settledIn(this.#settlers, { lease: run.lease, outcome }, () => this.#write(run, outcome));
  }

  async #settleAsleep(run: HeldRun, outcome: Ended['outcome'], waitsFor: AskCall): Promise<void> {
    const { lease } = run;
    const isWritten = await settledIn(this.#settlers, { lease, outcome }, () => this.#write(run, outcome));
    if (isWritten) await this.#sleep(run, waitsFor);
  }

  /** Answers whether the outcome is written. */
  #write(run: HeldRun, outcome: Ended['outcome']): Promise<boolean> {
    const { settling, giveUp } = this.#parts;
    return outcome === null ? Promise.resolve(false) : settleRun(run, outcome, settling, giveUp);
  }

  /** The run was settled with a short sleep; should this fail, the job starts again after it, and asks again. */
  async #sleep(run: HeldRun, waitsFor: AskCall): Promise<void> {
    const { jobs, settling, logger } = this.#parts;
    try {
      await settling.deadlines.within(jobs.ask!(waitsFor));
    } catch (error) {
      logger.warn({ ...run.fields, err: error }, 'A job that waits for an answer starts again soon, to ask once more.');
    }
  }

  #handBack(run: HeldRun): void {
    const { settling, giveUp } = this.#parts;
    run.state = 'settling';
    this.#settling += 1;
    const error = { code: 'worker_stopped', message: 'The worker stopped before it started the job.' };
    this.#untilSettled(run, settleRun(run, { kind: 'requeued', error }, settling, giveUp));
  }

  /** Without a frame of its own to wait in, as hundreds do at a time. */
  #untilSettled(run: HeldRun, work: Promise<unknown>): void {
    const over = () => {
      if (run.state === 'settling') this.#settling -= 1;
      else this.#endUnsettled(run);
      run.end();
      this.#parts.held.remove(run);
      this.#parts.changed.ring();
    };
    void work.then(over, (error: unknown) => {
      this.#parts.logger.error({ err: error }, 'The worker met an unexpected error.');
      over();
    });
  }

  /** The pipeline itself failed. The server gives the job out again when its lease has ended. */
  #endUnsettled(run: HeldRun): void {
    this.#running -= 1;
    this.#slots?.release(run.lease.job.queue);
    this.#startNext();
  }

  #note(ms: number): void {
    this.#meanRunMs = this.#meanRunMs === Number.POSITIVE_INFINITY ? ms : this.#meanRunMs * (1 - NEWEST) + ms * NEWEST;
  }

  /** Heartbeats need a turn of the event loop; a handler that computes without a pause denies it to all the others. */
  #warnOfLateness(run: HeldRun, now: number): void {
    const late = Math.round(now - run.renewedAt - run.leaseMs);
    if (late < 0 || run.isAborted) return;
    const { task } = run.fields;
    this.#parts.logger.warn(
      run.fields,
      `Task '${task}' ended ${late} ms after its lease: did it, or another, block the event loop?`,
    );
  }
}

/** A worker of one queue, or of strict order without bounds, has nothing to decide from claim to claim. */
function turnsOf({ queues }: RunnerQueues, slots: QueueSlots, { order, waitMs }: RunnerLoopParts): ClaimTurns {
  if (slots.isBounded || (order === 'fair' && queues.length > 1)) return new SharedTurns(queues, order, slots, waitMs);
  const names = queues.map(({ name }) => name);
  return sameTurns(names, waitMs);
}
