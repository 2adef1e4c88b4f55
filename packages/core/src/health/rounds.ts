import { randomUUID } from 'node:crypto';
import { HeldLock, LEASE_MS, RENEW_EVERY_MS } from '../sinks/held-lock.ts';
import { type StoredRecord, SYSTEM_TENANT } from '../store/records.ts';
import { RivalLease } from '../store/rival-lease.ts';
import type { RoundReport } from './checks-port.ts';
import type { HealthParts, HealthRound } from './health-round.ts';

const LOCK = 'health-round';
const STATE = { tenant: SYSTEM_TENANT, kind: 'health-round', id: 'last' } as const;
/** Workers come back and the sweep catches up before anything is looked at. */
const FIRST_AFTER_MS = 60_000;
const AFTER_ERROR_MS = 10_000;
/** A round that is dated further ahead than this was dated by a clock that is wrong, and keeps nobody from the next one. */
const AHEAD_MS = 5_000;

interface LastRound {
  at: number | null;
  after: string | null;
  version: number;
}

/** Rounds of all servers of a store: one in each interval, on one server at a time. */
export class Rounds {
  readonly #parts: HealthParts;
  readonly #round: HealthRound;
  readonly #rival = new RivalLease(LEASE_MS);
  readonly #owner = randomUUID();
  readonly #stopping = new AbortController();
  #loop: Promise<void> | undefined;

  constructor(parts: HealthParts, round: HealthRound) {
    this.#parts = parts;
    this.#round = round;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  async lastAt(): Promise<number | null> {
    return (await this.#last()).at;
  }

  /** Null: another server is at it. */
  async once(): Promise<RoundReport | null> {
    const answer = await this.#turn(() => true);
    return typeof answer === 'number' ? null : answer;
  }

  async #run(): Promise<void> {
    const { store, settings, logger } = this.#parts;
    const { signal } = this.#stopping;
    const sleep = (ms: number) => store.clock.sleep(ms, signal);
    await sleep(Math.min(FIRST_AFTER_MS, settings.everyMs));
    while (!signal.aborted) {
      let waitMs = settings.everyMs;
      try {
        const answer = await this.#turn((at) => this.#isDue(at));
        if (typeof answer === 'number') waitMs = answer;
      } catch (error) {
        waitMs = Math.min(AFTER_ERROR_MS, settings.everyMs);
        if (!signal.aborted) logger.warn({ err: error }, 'A round of health checks failed and will be repeated.');
      }
      await sleep(waitMs);
    }
  }

  /** The report, or how long to wait until this server may have something to do. */
  async #turn(isDue: (at: number | null) => boolean): Promise<RoundReport | number> {
    const { store, settings } = this.#parts;
    const { clock, locks } = store;
    const untilNext = (at: number | null) => Math.max(1, (at ?? clock.now()) + settings.everyMs - clock.now());
    const seen = await this.#last();
    if (!isDue(seen.at)) return untilNext(seen.at);
    const lock = await HeldLock.take({ locks, clock, owner: this.#owner, name: LOCK, rival: this.#rival });
    if (!(lock instanceof HeldLock)) return Math.min(LEASE_MS, Math.max(1, lock.takenUntil - clock.now() + 1));
    try {
      // Read again under the lock: the server that held it until now may have finished just before.
      const last = await this.#last();
      if (last.version !== seen.version && !isDue(last.at)) return untilNext(last.at);
      const at = clock.now();
      const end = await this.#round.go({ after: last.after, lastRoundAt: last.at }, this.#whileHeld(lock));
      await this.#note(last, { at, after: end.after });
      const { after: _, ...report } = end;
      return report;
    } finally {
      // Not given back, its lease ends by itself.
      await lock.release().catch(() => {});
    }
  }

  /** Whether this server may go on; prolongs its lease where a part of that has passed. */
  #whileHeld(lock: HeldLock): () => Promise<boolean> {
    const { clock } = this.#parts.store;
    let renewedAt = clock.monotonic();
    return async () => {
      if (this.#stopping.signal.aborted) return false;
      if (clock.monotonic() - renewedAt < RENEW_EVERY_MS) return lock.isHeld;
      renewedAt = clock.monotonic();
      return lock.renew();
    };
  }

  #isDue(at: number | null): boolean {
    const passed = this.#parts.store.clock.now() - (at ?? Number.NEGATIVE_INFINITY);
    return passed >= this.#parts.settings.everyMs || passed < -AHEAD_MS;
  }

  async #last(): Promise<LastRound> {
    const [record] = await this.#parts.store.records.get([STATE]);
    return record ? lastIn(record) : { at: null, after: null, version: 0 };
  }

  async #note({ version }: LastRound, { at, after }: Omit<LastRound, 'version'>): Promise<void> {
    await this.#parts.store.records.put([{ ...STATE, value: { at, after }, expected: version }]);
  }
}

function lastIn({ value: { at, after }, version }: StoredRecord): LastRound {
  return { at: typeof at === 'number' ? at : null, after: typeof after === 'string' ? after : null, version };
}
