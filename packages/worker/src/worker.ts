import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { checkNodeVersion, type Lease, WaybillError, type WorkerDirective } from '@waybill/core';
import { claimLoop } from './claim-loop.ts';
import { Deadlines } from './deadlines.ts';
import { inProcessRunner } from './execute/in-process.ts';
import { type Ended, execute, type Stages, UNKNOWN_TASK_SNOOZE_MS } from './execute/pipeline.ts';
import { serverNow } from './execute/run-control.ts';
import { OBEY_MS, runTask } from './execute/run-task.ts';
import { Heartbeat } from './heartbeat.ts';
import { HeldRun, HeldRuns } from './held-run.ts';
import { LossWatch } from './loss-watch.ts';
import { MAX_CLAIM, type ResolvedWorkerOptions, resolveWorkerOptions, type WorkerOptions } from './options.ts';
import { Bell } from './patience.ts';
import { type SettleParts, settleRun } from './settle-run.ts';

/** While runs take longer than this on average, jobs claimed ahead would only wait here. */
const AHEAD_BELOW_MS = 1_000;
const LARGE_STOCK = 32;
/** Weight of the newest run in the average. */
const NEWEST = 0.1;
/** How long a settle may take before it is made again. */
const SETTLED_WITHIN_MS = 30_000;
/** How long a stop waits for its last outcomes to be written. */
const LAST_WORDS_MS = 5_000;

/** Claims jobs, runs their handlers, keeps their leases and settles what they came to. Embedded or remote. */
export class Worker {
  readonly id: string;
  readonly #options: ResolvedWorkerOptions;
  readonly #held = new HeldRuns();
  readonly #waiting: HeldRun[] = [];
  readonly #heartbeat: Heartbeat;
  readonly #lossWatch: LossWatch;
  readonly #settling: SettleParts;
  readonly #stages: Stages<HeldRun, unknown>;
  readonly #changed = new Bell();
  readonly #stopping = new AbortController();
  readonly #hurry = new AbortController();
  readonly #giveUp = new AbortController();
  #pause = new AbortController();
  #running = 0;
  /** Runs that were begun or are being handed back, and not settled yet. */
  #underWay = 0;
  #meanRunMs = Number.POSITIVE_INFINITY;
  #claims: Promise<void> | undefined;
  #stopped: Promise<void> | undefined;
  #tellEnded: () => void = () => {};
  /** Resolves when the worker has stopped, by `stop` or because the server told it to. */
  readonly ended: Promise<void> = new Promise((resolve) => {
    this.#tellEnded = resolve;
  });

  constructor(options: WorkerOptions) {
    checkNodeVersion();
    const newId = () => `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
    this.#options = resolveWorkerOptions(options, newId);
    this.id = this.#options.id;
    const deadlines = new Deadlines(SETTLED_WITHIN_MS, this.#options.clock, this.#giveUp.signal);
    this.#settling = { ...this.#options, deadlines };
    this.#stages = this.#makeStages();
    const held = this.#held;
    const onLost = (run: HeldRun) => this.#lose(run);
    const onDirective = (directive: WorkerDirective) => this.#obey(directive);
    this.#heartbeat = new Heartbeat({ ...this.#options, held, onLost, onDirective });
    const askAgain = () => this.#heartbeat.beatSoon();
    this.#lossWatch = new LossWatch({ ...this.#options, held, onLost, askAgain });
  }

  /** Handlers under way. */
  get running(): number {
    return this.#running;
  }

  /** Jobs claimed and not yet started. */
  get waiting(): number {
    return this.#waiting.length;
  }

  start(): this {
    if (this.#stopping.signal.aborted) throw new WaybillError('conflict', 'A worker that was stopped stays stopped.');
    if (this.#claims !== undefined) return this;
    const { logger, queues, tasks, concurrency } = this.#options;
    logger.info({ worker: this.id, queues, tasks: [...tasks.keys()], concurrency }, 'The worker starts.');
    this.#heartbeat.start();
    this.#lossWatch.start();
    this.#claims = claimLoop({
      ...this.#options,
      room: () => this.#room(),
      pause: () => this.#pause.signal,
      stopping: this.#stopping.signal,
      changed: this.#changed,
      take: (leases) => this.#take(leases),
    });
    return this;
  }

  /**
   * Takes no more jobs, hands back those not yet started, waits `graceMs` for the others, then aborts and hands back
   * these too. Called again it can only hurry. Never rejects.
   */
  stop({ graceMs = this.#options.graceMs }: { graceMs?: number } = {}): Promise<void> {
    this.#stopped ??= this.#stop();
    if (Number.isFinite(graceMs)) {
      const { clock } = this.#options;
      void clock.sleep(graceMs, this.#giveUp.signal).then(() => this.#hurry.abort());
    }
    return this.#stopped;
  }

  /** Stops, and waits for running handlers however long they take. */
  drain(): Promise<void> {
    return this.stop({ graceMs: Number.POSITIVE_INFINITY });
  }

  async #stop(): Promise<void> {
    const { clock, logger } = this.#options;
    logger.info({ worker: this.id, running: this.#running, waiting: this.#waiting.length }, 'The worker stops.');
    this.#stopping.abort();
    for (const run of this.#waiting.splice(0)) this.#handBack(run);
    this.#changed.ring();
    // A claim may be stuck on its way; that must not keep the handlers from being told.
    const finished = Promise.resolve(this.#claims).then(() => this.#idle());
    await Promise.race([finished, untilAborted(this.#hurry.signal)]);
    for (const run of this.#held.all()) if (run.state === 'running') run.stop();
    await Promise.race([finished, clock.sleep(OBEY_MS + LAST_WORDS_MS, this.#giveUp.signal)]);
    this.#giveUp.abort();
    await this.#idle();
    await Promise.all([this.#heartbeat.end(), this.#lossWatch.end()]);
    logger.info({ worker: this.id }, 'The worker has stopped.');
    this.#tellEnded();
  }

  async #idle(): Promise<void> {
    while (this.#underWay > 0) await this.#changed.wait();
  }

  /**
   * How many jobs to claim now. Half of a large stock is used up first: few large claims cost less than many small.
   * Runs that are only being settled need no handler any more, but a server that is slow to settle gets no more work.
   */
  #room(): number {
    const ahead = this.#ahead();
    const whole = this.#options.concurrency + ahead;
    const busy = this.#running + this.#waiting.length;
    if (ahead >= LARGE_STOCK && this.#waiting.length > ahead / 2) return 0;
    return this.#held.size - busy > whole ? 0 : Math.min(whole - busy, MAX_CLAIM);
  }

  #ahead(): number {
    const { prefetch, concurrency } = this.#options;
    return prefetch ?? (this.#meanRunMs < AHEAD_BELOW_MS ? concurrency : 0);
  }

  #take(leases: readonly Lease[]): void {
    const { clock, leaseMs } = this.#options;
    const now = clock.monotonic();
    for (const lease of leases) {
      const run = new HeldRun(lease, now, leaseMs);
      const older = this.#held.get(run.id);
      if (older?.lease.token === lease.token) continue;
      if (older !== undefined) this.#lose(older);
      this.#held.add(run);
      this.#heartbeat.notice(run);
      if (this.#stopping.signal.aborted) this.#handBack(run);
      else this.#waiting.push(run);
    }
    if (leases.length > 0) this.#lossWatch.notice();
    this.#startNext();
  }

  #startNext(): void {
    while (this.#running < this.#options.concurrency) {
      const run = this.#waiting.shift();
      if (run === undefined) return;
      this.#execute(run);
    }
  }

  /** Once for all runs: whatever is made anew for each of them costs more than a short handler. */
  #makeStages(): Stages<HeldRun, unknown> {
    const { clock, logger, tasks } = this.#options;
    const parts = { ...this.#options, workerId: this.id, runner: inProcessRunner(this.#options) };
    return {
      tasks,
      now: (run) => serverNow(run.lease, run, clock),
      onUnknown: ({ fields }) => {
        const message = `This worker has no task '${fields.task}'; the job waits ${UNKNOWN_TASK_SNOOZE_MS} ms.`;
        logger.warn(fields, message);
      },
      run: (validated, run) => runTask(validated, run, parts),
      settle: (ended, run) => this.#settle(ended, run),
    };
  }

  #execute(run: HeldRun): void {
    run.startedAt = this.#options.clock.monotonic();
    run.state = 'running';
    this.#running += 1;
    this.#whileUnderWay(run, execute(run, this.#stages));
  }

  #settle({ outcome, isSettled = false }: Ended, run: HeldRun): Promise<unknown> {
    const { clock } = this.#options;
    const now = clock.monotonic();
    run.state = 'settling';
    this.#running -= 1;
    this.#note(now - run.startedAt);
    this.#startNext();
    this.#changed.ring();
    this.#warnOfLateness(run, now);
    run.isSettledByHandler = isSettled;
    return outcome === null ? Promise.resolve() : settleRun(run, outcome, this.#settling, this.#giveUp.signal);
  }

  /** Without a frame of its own to wait in, as hundreds do at a time. */
  #whileUnderWay(run: HeldRun, work: Promise<unknown>): void {
    this.#underWay += 1;
    const over = () => {
      this.#underWay -= 1;
      this.#release(run);
    };
    void work.then(over, (error: unknown) => {
      this.#options.logger.error({ err: error }, 'The worker met an unexpected error.');
      over();
    });
  }

  #note(ms: number): void {
    this.#meanRunMs = this.#meanRunMs === Number.POSITIVE_INFINITY ? ms : this.#meanRunMs * (1 - NEWEST) + ms * NEWEST;
  }

  /** Heartbeats need a turn of the event loop; a handler that computes without a pause denies it to all the others. */
  #warnOfLateness(run: HeldRun, now: number): void {
    const { logger } = this.#options;
    const late = Math.round(now - run.renewedAt - run.leaseMs);
    if (late < 0 || run.isAborted) return;
    const { task } = run.fields;
    logger.warn(
      run.fields,
      `Task '${task}' ended ${late} ms after its lease: did it, or another, block the event loop?`,
    );
  }

  #handBack(run: HeldRun): void {
    run.state = 'settling';
    const error = { code: 'worker_stopped', message: 'The worker stopped before it started the job.' };
    const settled = settleRun(run, { kind: 'requeued', error }, this.#settling, this.#giveUp.signal);
    this.#whileUnderWay(run, settled);
  }

  #lose(run: HeldRun): void {
    const { logger } = this.#options;
    logger.warn({ ...run.fields, state: run.state }, `Task '${run.fields.task}' lost the lease of its job.`);
    run.lose();
    const index = this.#waiting.indexOf(run);
    if (index >= 0) this.#waiting.splice(index, 1);
    this.#release(run);
  }

  #release(run: HeldRun): void {
    this.#held.remove(run);
    this.#changed.ring();
  }

  #obey(directive: WorkerDirective): void {
    if (directive === 'terminate') void this.stop();
    else if (directive === 'quiet') this.#pause.abort();
    else if (this.#pause.signal.aborted) {
      this.#pause = new AbortController();
      this.#changed.ring();
    }
  }
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
