import { randomUUID } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { LoggedEvent } from '../events/job-event.ts';
import type { Logger } from '../logger.ts';
import type { EventLog } from '../store/event-log.ts';
import type { LockStore } from '../store/locks.ts';
import type { RecordStore } from '../store/records.ts';
import type { AilingSink, Events } from '../waybill.ts';
import type { SinkKey, SinkState, Sinks } from './sink.ts';
import type { SinkHolders } from './sink-holders.ts';
import { SinkRunner } from './sink-runner.ts';
import { RECOVERED, SinkStates } from './sink-states.ts';

const PAUSE_AFTER_MS = 86_400_000;
/** What is read ahead of the oldest event that is not delivered, and the part of it that one line may have. */
const BOUNDS = { events: 1_000, bytes: 4 * 1024 * 1024, share: 0.1 };
/** Sinks that health names. */
const MOST_NAMED = 100;

interface SinksParts {
  store: { records: RecordStore; locks: LockStore; events: EventLog; clock: Clock };
  follow: Events['follow'];
  read: EventLog['read'];
  /** Gets what is kept outside of the log; fails where that cannot be read now. */
  open(event: LoggedEvent): Promise<LoggedEvent>;
  logger: Logger;
  holders: SinkHolders;
  /** The log tells more. */
  onTold(): void;
}

/** The sinks of one engine. Costs nothing before the first call of `run`. */
export class EngineSinks implements Sinks {
  readonly #parts: SinksParts;
  readonly #states: SinkStates;
  readonly #runners = new Set<SinkRunner>();
  /** The same for all of this engine, so that two of its runners do not take a sink from each other. */
  readonly #owner = randomUUID();

  constructor(parts: SinksParts) {
    this.#parts = parts;
    this.#states = new SinkStates(parts.store);
    parts.holders.onChange = () => {
      for (const runner of this.#runners) runner.refresh();
    };
  }

  readonly run: Sinks['run'] = (source, { pauseAfterMs = PAUSE_AFTER_MS, observe, bounds = BOUNDS } = {}) => {
    const { store, follow, read, open, logger, onTold } = this.#parts;
    const tell = async (told: Parameters<EventLog['tell']>[0][number]) => {
      await store.events.tell([told]);
      onTold();
    };
    const runner = new SinkRunner(source, {
      ...{ states: this.#states, locks: store.locks, clock: store.clock, owner: this.#owner },
      ...{
        follow,
        read,
        open,
        tell,
        logger,
        pauseAfterMs,
        bounds,
        ...(observe && { observe }),
      },
    });
    this.#runners.add(runner);
    runner.start();
    return {
      refresh: () => runner.refresh(),
      stop: async () => {
        await runner.stop();
        this.#runners.delete(runner);
      },
    };
  };

  readonly tenantsWith: Sinks['tenantsWith'] = (kind) => this.#parts.holders.tenantsWith(kind);

  readonly open: Sinks['open'] = (event) => this.#parts.open(event);

  readonly state: Sinks['state'] = async (key) => (await this.#states.read(key))?.state ?? null;

  readonly pause: Sinks['pause'] = (key, reason) =>
    this.#change(key, (state) => ({ ...state, status: 'paused', pausedReason: reason }));

  readonly resume: Sinks['resume'] = (key) =>
    this.#change(key, (state) => ({
      ...state,
      ...RECOVERED,
      ...{ status: 'active', pausedReason: null, missed: false },
    }));

  readonly moveTo: Sinks['moveTo'] = (key, cursor) =>
    this.#change(key, (state) => {
      // Behind the begin of the log is everything; otherwise what is parked may lie before the new place.
      const parked = cursor === null ? [] : state.parked;
      return { ...state, ...RECOVERED, cursor, parked, missed: false };
    });

  /** Those that this process delivers to and cannot, for whoever asks for its health. */
  ailing(): AilingSink[] {
    return [...this.#runners].flatMap((runner) => runner.ailing()).slice(0, MOST_NAMED);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#runners].map((runner) => runner.stop()));
  }

  async #change(key: SinkKey, change: (state: SinkState) => SinkState): Promise<SinkState> {
    const state = await this.#states.change(key, change);
    for (const runner of this.#runners) runner.recheck(key);
    return state;
  }
}
