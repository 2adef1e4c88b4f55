import { randomUUID } from 'node:crypto';
import type { HeartbeatAnswer, WorkerDirective } from '@waybill/core';
import type { HeldRun, HeldRuns } from './held-run.ts';
import type { ResolvedWorkerOptions } from './options.ts';
import { backoffMs, within } from './patience.ts';

/** The server takes so many in one call. */
const MAX_JOBS = 1_000;

/** Leases too short to be kept alive must not make the worker do nothing else. */
const SHORTEST_PAUSE_MS = 50;

interface HeartbeatParts
  extends Pick<ResolvedWorkerOptions, 'id' | 'jobs' | 'clock' | 'logger' | 'heartbeatMs' | 'tenant'> {
  held: HeldRuns;
  onDirective(directive: WorkerDirective): void;
  onLost(run: HeldRun): void;
}

/** Keeps every lease of the worker alive in one call, and hears what the worker is told to do. */
export class Heartbeat {
  readonly #parts: HeartbeatParts;
  /** What an earlier process under the same id was told is not for this one. */
  readonly #instance = randomUUID();
  readonly #ending = new AbortController();
  #poke = new AbortController();
  #wakeAt = Number.NEGATIVE_INFINITY;
  #isUrgent = false;
  #failures = 0;
  #failingSince = 0;
  #loop: Promise<void> | undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#loop ??= this.#beatOnAndOn();
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#loop;
  }

  /** A new run may have a shorter lease than the next beat allows for. */
  notice(run: HeldRun): void {
    if (dueFor(run) < this.#wakeAt) this.#poke.abort();
  }

  /** Somebody has reason to ask about every run now. */
  beatSoon(): void {
    this.#isUrgent = true;
    this.#poke.abort();
  }

  async #beatOnAndOn(): Promise<void> {
    const { clock } = this.#parts;
    while (!this.#ending.signal.aborted) {
      const beganAt = clock.monotonic();
      await this.#beat();
      const pause = this.#failures > 0 ? backoffMs(this.#failures) : this.#parts.heartbeatMs;
      await this.#sleepUntil(beganAt + SHORTEST_PAUSE_MS, beganAt + Math.min(pause, this.#parts.heartbeatMs));
    }
  }

  /** Until a lease needs it, but not before `earliest` nor after `latest`. Looks again when poked. */
  async #sleepUntil(earliest: number, latest: number): Promise<void> {
    const { clock, held } = this.#parts;
    while (!this.#ending.signal.aborted) {
      const due = this.#isUrgent
        ? [earliest]
        : held.all().flatMap((run) => (run.state === 'settling' ? [] : [dueFor(run)]));
      this.#wakeAt = Math.max(earliest, Math.min(latest, ...due));
      const ms = this.#wakeAt - clock.monotonic();
      if (ms <= 0) return;
      this.#poke = new AbortController();
      await clock.sleep(ms, AbortSignal.any([this.#ending.signal, this.#poke.signal]));
    }
  }

  async #beat(): Promise<void> {
    const { held, logger, clock } = this.#parts;
    const runs = held.all();
    const beganAt = clock.monotonic();
    this.#isUrgent = false;
    try {
      // Also without jobs: that is how the server knows that this worker lives, and how it is told to stop.
      for (let from = 0; from === 0 || from < runs.length; from += MAX_JOBS) {
        await this.#beatFor(runs.slice(from, from + MAX_JOBS));
      }
      this.#failures = 0;
    } catch (error) {
      this.#failures += 1;
      if (this.#failures === 1) this.#failingSince = beganAt;
      this.#loseUnkept();
      if (this.#failures === 1 && !this.#ending.signal.aborted)
        logger.warn({ err: error, jobs: runs.length }, 'A heartbeat failed; trying again.');
    }
  }

  /** Tries in between count as one: a server that restarts must not cost the runs of a worker that asks often. */
  #loseUnkept(): void {
    const { clock, heartbeatMs, held, onLost } = this.#parts;
    const missed = 1 + Math.floor((clock.monotonic() - this.#failingSince) / heartbeatMs);
    if (missed < MISSED_IN_A_ROW) return;
    for (const run of held.all()) if (run.endsWithLease && run.state !== 'settling') onLost(run);
  }

  async #beatFor(runs: readonly HeldRun[]): Promise<void> {
    const { id: workerId, jobs, clock, tenant, heartbeatMs } = this.#parts;
    const sentAt = clock.monotonic();
    const held = runs.map(({ id, lease }) => ({ id, leaseToken: lease.token }));
    const call = { workerId, instance: this.#instance, tenant, jobs: held };
    this.#hear(runs, sentAt, await within(heartbeatMs, clock, jobs.heartbeat(call), this.#ending.signal));
  }

  #hear(runs: readonly HeldRun[], sentAt: number, { directive, extended, lost }: HeartbeatAnswer): void {
    const { held, onLost, onDirective } = this.#parts;
    const gone = new Set(lost);
    const until = new Map(extended.map(({ id, leaseUntil }) => [id, leaseUntil]));
    for (const run of runs) {
      // Settled, or lost and claimed anew, while the call was under way: the answer is about the past.
      if (held.get(run.id) !== run || run.state === 'settling') continue;
      if (gone.has(run.id)) onLost(run);
      else this.#renew(run, sentAt, until.get(run.id));
    }
    onDirective(directive);
  }

  #renew(run: HeldRun, sentAt: number, leaseUntil: number | undefined): void {
    run.renewedAt = sentAt;
    if (leaseUntil !== undefined) run.renewed(leaseUntil);
  }
}

/** After so many heartbeat intervals without an answer, runs that end with their lease are ended. */
const MISSED_IN_A_ROW = 3;

/** Two thirds of the lease leave time for a second try. */
const dueFor = ({ renewedAt, leaseMs }: HeldRun): number => renewedAt + (leaseMs * 2) / 3;
