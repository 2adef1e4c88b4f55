import { type Clock, type EventFilter, type Events, TERMINAL_EVENT_TYPES } from '@waybill/core';

/** Ids that are asked for; with more of them the ends of all jobs are asked for, and the stream need not change. */
const MOST_IDS = 64;

/** After a stream of events broke: how long before it is opened again. */
const REOPEN_MS = 1_000;

/** However still the stream is. A queue that is told to keep nothing meanwhile ends its jobs without an event. */
const LOOK_EVERY_MS = 60_000;

/** One job that somebody waits for. */
export interface JobWatch {
  /** Resolves once the job's end cannot be missed any more: whoever looks then and finds the job alive is told later. */
  covered(): Promise<void>;
  /** The next word: the job seems to have ended, or it is time to look because the stream broke. Ask before looking. */
  told(): Promise<void>;
  leave(): void;
}

/** The ends of jobs of one tenant, by one stream of events for all who wait in this process. */
export class JobEnds {
  readonly #events: Events;
  readonly #clock: Clock;
  readonly #tenant: string | undefined;
  readonly #watched = new Map<string, Set<Watch>>();
  /** Behind this place every end is told; undefined: no stream is open. */
  #cursor: string | undefined;
  /** The jobs that the open stream tells of; undefined: all. */
  #asked: ReadonlySet<string> | undefined;
  #stream: AbortController | undefined;
  #isRunning = false;

  constructor(events: Events, clock: Clock, tenant: string | undefined) {
    this.#events = events;
    this.#clock = clock;
    this.#tenant = tenant;
  }

  watch(id: string): JobWatch {
    const watch = new Watch(() => this.#leave(id, watch));
    const same = this.#watched.get(id) ?? new Set();
    this.#watched.set(id, same.add(watch));
    if (this.#cursor !== undefined) watch.tell();
    if (!this.#isRunning) void this.#run();
    else if (this.#asked?.has(id) === false) this.#stream?.abort();
    return watch;
  }

  #leave(id: string, watch: Watch): void {
    const same = this.#watched.get(id);
    same?.delete(watch);
    if (same?.size === 0) this.#watched.delete(id);
    if (this.#watched.size === 0) this.#stream?.abort();
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    const over = new AbortController();
    void this.#lookAgain(over.signal);
    while (this.#watched.size > 0) {
      this.#stream = new AbortController();
      try {
        await this.#follow(this.#stream.signal);
      } catch {
        // Each of them asks for its job next; whatever is wrong, that call will say so.
        this.#cursor = undefined;
        for (const watch of this.#all()) watch.tell();
        await this.#clock.sleep(REOPEN_MS, this.#stream.signal);
      }
    }
    over.abort();
    this.#cursor = undefined;
    this.#asked = undefined;
    this.#stream = undefined;
    this.#isRunning = false;
  }

  async #lookAgain(over: AbortSignal): Promise<void> {
    for (;;) {
      await this.#clock.sleep(LOOK_EVERY_MS, over);
      if (over.aborted) return;
      for (const watch of this.#all()) watch.tell();
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    if (this.#cursor === undefined) {
      this.#cursor = await this.#events.end();
      // Whoever has looked before this place was known must look again, or look now.
      for (const watch of this.#all()) watch.tell();
    }
    const ids = [...this.#watched.keys()];
    this.#asked = ids.length <= MOST_IDS ? new Set(ids) : undefined;
    const filter: Partial<EventFilter> = {
      types: [...TERMINAL_EVENT_TYPES],
      ...(this.#tenant !== undefined && { tenant: this.#tenant }),
      ...(this.#asked && { jobIds: ids }),
    };
    const onPlace = (cursor: string) => {
      this.#cursor = cursor;
    };
    // What was pruned, or was in a log that is no more, is found by looking.
    const onMissed = () => {
      for (const watch of this.#all()) watch.tell();
    };
    const query = { after: this.#cursor, filter, signal, onPlace, onMissed };
    for await (const { cursor, jobId } of this.#events.follow(query)) {
      this.#cursor = cursor;
      for (const watch of this.#watched.get(jobId ?? '') ?? []) watch.tell();
    }
    if (!signal.aborted) throw new Error('The stream of events has ended.');
  }

  #all(): Watch[] {
    return [...this.#watched.values()].flatMap((same) => [...same]);
  }
}

class Watch implements JobWatch {
  readonly leave: () => void;
  readonly #covered = Promise.withResolvers<void>();
  #told = Promise.withResolvers<void>();

  constructor(leave: () => void) {
    this.leave = leave;
  }

  tell(): void {
    this.#covered.resolve();
    this.#told.resolve();
    this.#told = Promise.withResolvers();
  }

  covered(): Promise<void> {
    return this.#covered.promise;
  }

  told(): Promise<void> {
    return this.#told.promise;
  }
}
