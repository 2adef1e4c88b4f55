import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { checkNodeVersion, WaybillError, type WorkerDirective } from '@waybill/core';
import { Deadlines } from './deadlines.ts';
import { obeyMs } from './execute/run-task.ts';
import type { Runner } from './execute/runner.ts';
import { Heartbeat } from './heartbeat.ts';
import { type HeldRun, HeldRuns } from './held-run.ts';
import { LossWatch } from './loss-watch.ts';
import { type ResolvedWorkerOptions, resolveWorkerOptions, type WorkerOptions } from './options.ts';
import { Bell, within } from './patience.ts';
import { RunnerLoop } from './runner-loop.ts';
import { IN_PROCESS } from './task.ts';

/** How long a settle may take before it is made again. */
const SETTLED_WITHIN_MS = 30_000;
/** How long a stop waits for its last outcomes to be written. */
const LAST_WORDS_MS = 5_000;
/** How long a stop waits for a runner to stop. */
const RUNNER_STOPS_WITHIN_MS = 5_000;

/**
 * Claims jobs, runs their handlers, keeps their leases and settles what they came to. Embedded or remote. Each runner has
 * a loop of its own; leases are kept for all of them together.
 */
export class Worker {
  readonly id: string;
  readonly #options: ResolvedWorkerOptions;
  readonly #held = new HeldRuns();
  readonly #heartbeat: Heartbeat;
  readonly #lossWatch: LossWatch;
  readonly #loops: readonly RunnerLoop[];
  readonly #changed = new Bell();
  readonly #stopping = new AbortController();
  readonly #hurry = new AbortController();
  readonly #giveUp = new AbortController();
  #pause = new AbortController();
  #claims: Promise<unknown> | undefined;
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
    const held = this.#held;
    const onLost = (run: HeldRun) => this.#lose(run);
    const onDirective = (directive: WorkerDirective) => this.#obey(directive);
    this.#heartbeat = new Heartbeat({ ...this.#options, held, onLost, onDirective });
    const askAgain = () => this.#heartbeat.beatSoon();
    this.#lossWatch = new LossWatch({ ...this.#options, held, onLost, askAgain });
    this.#loops = this.#makeLoops();
  }

  #makeLoops(): RunnerLoop[] {
    const { clock, prefetch, runnerQueues } = this.#options;
    const giveUp = this.#giveUp.signal;
    const deadlines = new Deadlines(SETTLED_WITHIN_MS, clock, giveUp);
    const parts = {
      ...this.#options,
      held: this.#held,
      heartbeat: this.#heartbeat,
      lossWatch: this.#lossWatch,
      settling: { ...this.#options, deadlines },
      stopping: this.#stopping.signal,
      giveUp,
      changed: this.#changed,
      pause: () => this.#pause.signal,
      lose: (run: HeldRun) => this.#lose(run),
    };
    return runnerQueues.map((own) => new RunnerLoop(own, own.runner.name === IN_PROCESS ? prefetch : null, parts));
  }

  /** Handlers under way. */
  get running(): number {
    return this.#loops.reduce((sum, { running }) => sum + running, 0);
  }

  /** Jobs claimed and not yet started. */
  get waiting(): number {
    return this.#loops.reduce((sum, { waiting }) => sum + waiting, 0);
  }

  start(): this {
    if (this.#stopping.signal.aborted) throw new WaybillError('conflict', 'A worker that was stopped stays stopped.');
    if (this.#claims !== undefined) return this;
    const { logger, queues, tasks, concurrency, runnerQueues } = this.#options;
    const runners = runnerQueues.map(({ runner }) => runner.name);
    logger.info({ worker: this.id, queues, tasks: [...tasks.keys()], concurrency, runners }, 'The worker starts.');
    this.#heartbeat.start();
    this.#lossWatch.start();
    this.#claims = Promise.all(this.#loops.map((loop) => loop.claim()));
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
    const { clock, logger, runners } = this.#options;
    logger.info({ worker: this.id, running: this.running, waiting: this.waiting }, 'The worker stops.');
    this.#stopping.abort();
    for (const loop of this.#loops) loop.handBackWaiting();
    this.#changed.ring();
    // A claim may be stuck on its way; that must not keep the handlers from being told.
    const finished = Promise.resolve(this.#claims).then(() => this.#idle());
    await Promise.race([finished, untilAborted(this.#hurry.signal)]);
    for (const run of this.#held.all()) if (run.state === 'running') run.stop();
    await Promise.race([finished, clock.sleep(Math.max(...runners.map(obeyMs)) + LAST_WORDS_MS, this.#giveUp.signal)]);
    this.#giveUp.abort();
    await this.#idle();
    await Promise.all([this.#heartbeat.end(), this.#lossWatch.end(), ...runners.map((one) => this.#stopRunner(one))]);
    logger.info({ worker: this.id }, 'The worker has stopped.');
    this.#tellEnded();
  }

  async #idle(): Promise<void> {
    while (this.#loops.some(({ isIdle }) => !isIdle)) await this.#changed.wait();
  }

  async #stopRunner(runner: Runner): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      await within(RUNNER_STOPS_WITHIN_MS, clock, runner.stop());
    } catch (error) {
      logger.error({ err: error, worker: this.id, runner: runner.name }, `Runner '${runner.name}' did not stop.`);
    }
  }

  #lose(run: HeldRun): void {
    const { logger } = this.#options;
    logger.warn({ ...run.fields, state: run.state }, `Task '${run.fields.task}' lost the lease of its job.`);
    run.lose();
    for (const loop of this.#loops) loop.forget(run);
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
