import type { Clock } from '../clock.ts';
import { Signal } from '../events/signal.ts';
import type { Logger } from '../logger.ts';
import { RivalLease } from '../store/rival-lease.ts';
import type { AilingSink } from '../waybill.ts';
import { backoffMs } from './backoff.ts';
import { HeldLock, LEASE_MS, lockName } from './held-lock.ts';
import type { RunningSinks, Sink, SinkKey, SinkSource, SinkState } from './sink.ts';
import type { RunEnd, SinkParts } from './sink-parts.ts';
import { SinkRun } from './sink-run.ts';

/** Changes that another server has made to the list are found this late at most. */
const LIST_EVERY_MS = 60_000;
/** After an error the pause grows up to this. */
const LONGEST_PAUSE_MS = 60_000;

/** Runs what a source lists: each sink on one server at a time, and none that fails in the way of another one. */
export class SinkRunner implements RunningSinks {
  readonly #source: SinkSource;
  readonly #parts: SinkParts;
  readonly #tasks = new Map<string, SinkTask>();
  readonly #ending = new Set<Promise<void>>();
  readonly #woken = new Signal();
  #isStopped = false;
  #listing: Promise<void> | undefined;

  constructor(source: SinkSource, parts: SinkParts) {
    this.#source = source;
    this.#parts = parts;
  }

  start(): void {
    this.#listing ??= this.#listLoop();
  }

  refresh(): void {
    this.#woken.ring();
    for (const task of this.#tasks.values()) task.recheck();
  }

  /** What is kept of this sink has changed. */
  recheck(key: SinkKey): void {
    this.#tasks.get(lockName(key))?.recheck();
  }

  /** What cannot be delivered to at this moment. */
  ailing(): AilingSink[] {
    return [...this.#tasks.values()].flatMap((task) => task.ailing ?? []);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#woken.ring();
    await this.#listing;
    for (const name of [...this.#tasks.keys()]) this.#end(name);
    await Promise.all(this.#ending);
  }

  async #listLoop(): Promise<void> {
    const { clock, logger } = this.#parts;
    while (!this.#isStopped) {
      const woken = this.#woken.next();
      try {
        const sinks = await this.#source.list();
        if (!this.#isStopped) this.#reconcile(sinks);
      } catch (error) {
        logger.warn({ err: error }, 'The sinks could not be listed; those that run go on.');
      }
      if (!this.#isStopped) await clock.sleep(LIST_EVERY_MS, woken);
    }
  }

  #reconcile(sinks: readonly Sink[]): void {
    const wanted = new Map(sinks.map((sink) => [lockName(sink), sink]));
    for (const [name, { sink }] of [...this.#tasks]) {
      const now = wanted.get(name);
      if (now === undefined || now.revision !== sink.revision) this.#end(name);
    }
    for (const task of this.#tasks.values()) task.wake();
    for (const [name, sink] of wanted) {
      if (this.#tasks.has(name)) continue;
      // The one before it must have ended: both have the same owner, so the lock would let them run side by side.
      const task = new SinkTask(sink, this.#parts, this.#ends.get(name), () => this.#woken.ring());
      this.#tasks.set(name, task);
    }
  }

  readonly #ends = new Map<string, Promise<void>>();

  #end(name: string): void {
    const task = this.#tasks.get(name)!;
    this.#tasks.delete(name);
    const ended = task.stop().finally(() => {
      this.#ending.delete(ended);
      if (this.#ends.get(name) === ended) this.#ends.delete(name);
    });
    this.#ending.add(ended);
    this.#ends.set(name, ended);
  }
}

/** Keeps one sink running on this server: takes the lock when it is free, and goes on after whatever ended a run. */
class SinkTask {
  readonly sink: Sink;
  readonly #parts: SinkParts;
  readonly #woken = new Signal();
  readonly #listAgain: () => void;
  readonly #rival = new RivalLease(LEASE_MS);
  readonly #loop: Promise<void>;
  #run: SinkRun | undefined;
  #isStopped = false;
  #wasKept = false;
  /** As it was found. */
  #paused: SinkState | undefined;

  constructor(sink: Sink, parts: SinkParts, before: Promise<void> | undefined, listAgain: () => void) {
    this.sink = sink;
    this.#parts = parts;
    this.#listAgain = listAgain;
    this.#loop = this.#keepRunning(before);
  }

  /** Null: it is well, or another server delivers to it. */
  get ailing(): AilingSink | null {
    const { tenant, id } = this.sink;
    const failing = this.#run?.failing;
    if (failing) return { tenant, id, status: 'failing', ...failing };
    if (this.#paused === undefined) return null;
    const { failingSince: since, pausedReason } = this.#paused;
    return { tenant, id, status: 'paused', since, reason: pausedReason ?? 'It is paused.' };
  }

  /** It is still listed: one that waits looks whether it can run. */
  wake(): void {
    this.#woken.ring();
  }

  recheck(): void {
    this.#run?.recheck();
    this.#woken.ring();
  }

  stop(): Promise<void> {
    this.#isStopped = true;
    this.#run?.stop();
    this.#woken.ring();
    return this.#loop;
  }

  async #keepRunning(before: Promise<void> | undefined): Promise<void> {
    const { clock, logger } = this.#parts;
    const { id, tenant } = this.sink;
    await before;
    let errors = 0;
    while (!this.#isStopped) {
      const woken = this.#woken.next();
      let pauseMs: number;
      try {
        pauseMs = await this.#runOnce();
        errors = 0;
      } catch (error) {
        errors += 1;
        pauseMs = backoffMs(id, errors, LONGEST_PAUSE_MS);
        logger.warn({ err: error, sink: id, tenant }, 'A sink has failed as a whole, and begins again.');
      }
      if (!this.#isStopped) await clock.sleep(pauseMs, woken);
    }
  }

  /** Answers how long to wait before the next run, unless something happens. */
  async #runOnce(): Promise<number> {
    const { states, locks, clock, owner } = this.#parts;
    const known = await states.read(this.sink);
    this.#paused = known?.state.status === 'paused' ? known.state : undefined;
    if (this.#paused) return LIST_EVERY_MS;
    // What was there and is no more was removed, and the list will say so.
    if (known === null && this.#wasKept) return this.#pauseAfter('changed');
    this.#wasKept = true;
    const lock = await HeldLock.take({ locks, clock, owner, name: lockName(this.sink), rival: this.#rival });
    if (!(lock instanceof HeldLock)) return Math.min(LEASE_MS, Math.max(1, lock.takenUntil - clock.now() + 1));
    try {
      const end = await this.#runWith(lock);
      if (end === 'paused') this.#paused = (await states.read(this.sink))?.state;
      return this.#pauseAfter(end);
    } finally {
      this.#run = undefined;
      await release(lock, this.#parts);
    }
  }

  async #runWith(lock: HeldLock): Promise<RunEnd> {
    const { states } = this.#parts;
    const { state, version } = (await states.read(this.sink)) ?? (await states.begin(this.sink));
    if (state.status === 'paused') return 'paused';
    // A new version: whoever held the lock before and does not know that it has lost it can save nothing any more.
    const own = await states.write(this.sink, state, version);
    if (own === null) return 'changed';
    if (this.#isStopped) return 'stopped';
    this.#run = new SinkRun(this.sink, this.#parts, lock, { state, version: own });
    return this.#run.go();
  }

  #pauseAfter(end: RunEnd): number {
    if (end === 'paused') return LIST_EVERY_MS;
    if (end === 'lost') return 1_000;
    // The sink may be no more, so the list is read, which wakes this one if it goes on.
    if (end === 'changed') this.#listAgain();
    return end === 'changed' ? 1_000 : 0;
  }
}

async function release(lock: HeldLock, { logger }: { clock: Clock; logger: Logger }): Promise<void> {
  try {
    await lock.release();
  } catch (error) {
    logger.debug({ err: error }, 'The lock of a sink was not given back; its lease ends by itself.');
  }
}
