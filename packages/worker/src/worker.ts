import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { checkNodeVersion, WaybillError, type WorkerDirective } from '@waybill/core';
import { Deadlines } from './deadlines.ts';
import { obeyMs } from './execute/run-task.ts';
import type { Runner } from './execute/runner.ts';
import { Heartbeat } from './heartbeat.ts';
import { HeldRun, HeldRuns } from './held-run.ts';
import { LOADING } from './isolate/loading.ts';
import type { DropReason } from './journal/journal-counts.ts';
import { Journaling } from './journal/journaling.ts';
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
  readonly #journaling: Journaling;
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
    checkNotLoading();
    const newId = () => `${hostname()}-${process.pid}-${randomBytes(3).toString('hex')}`;
    this.#options = resolveWorkerOptions(options, newId);
    this.id = this.#options.id;
    const held = this.#held;
    const onLost = (run: HeldRun) => this.#lose(run);
    const onDirective = (directive: WorkerDirective) => this.#obey(directive);
    this.#heartbeat = new Heartbeat({ ...this.#options, held, onLost, onDirective });
    const askAgain = () => this.#heartbeat.beatSoon();
    this.#lossWatch = new LossWatch({ ...this.#options, held, onLost, askAgain });
    this.#journaling = new Journaling({
      ...this.#options,
      giveUp: this.#giveUp.signal,
      onDropped: (entries, reason) => this.#tellDropped(entries, reason),
      onLeaseLost: (run) => {
        if (run instanceof HeldRun && held.get(run.id) === run && run.state === 'running') onLost(run);
      },
    });
    this.#loops = this.#makeLoops();
    for (const one of this.#options.middleware) one.attach?.(this);
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
      journaling: this.#journaling,
      stopping: this.#stopping.signal,
      giveUp,
      changed: this.#changed,
      pause: () => this.#pause.signal,
      lose: (run: HeldRun) => this.#lose(run),
    };
    return runnerQueues.map((own) => new RunnerLoop(own, own.runner.name === IN_PROCESS ? prefetch : null, parts));
  }

  /** Entries that runs have said since the worker was made: how many were stored, and how many could not be. */
  get said(): { readonly stored: number; readonly dropped: number } {
    const { stored, dropped } = this.#journaling.counts;
    return { stored, dropped };
  }

  /** Handlers under way. */
  get running(): number {
    return this.#loops.reduce((sum, { running }) => sum + running, 0);
  }

  /** Handlers that may be under way at once, of all runners. */
  get slots(): number {
    return this.#options.runnerQueues.reduce((sum, { runner }) => sum + runner.concurrency, 0);
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
    this.#journaling.start();
    for (const { runner, tasks } of runnerQueues) for (const task of tasks.values()) runner.prepare?.(task);
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
    await this.#journaling.end();
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

  #tellDropped(entries: number, reason: DropReason): void {
    const { middleware, logger } = this.#options;
    for (const one of middleware) {
      try {
        one.dropped?.(entries, reason);
      } catch (error) {
        logger.warn({ err: error, worker: this.id }, 'A middleware failed when it was told of dropped entries.');
      }
    }
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

/** A module that starts a worker would start one in the process of each isolated run. */
function checkNotLoading(): void {
  const task = (globalThis as { [LOADING]?: string })[LOADING];
  if (task === undefined) return;
  throw new WaybillError(
    'invalid_request',
    `The module of the isolated task '${task}' starts a worker when it is loaded, and each run loads it.`,
    { hint: 'Define the task in a module of its own, and import it where the worker is started.' },
  );
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
