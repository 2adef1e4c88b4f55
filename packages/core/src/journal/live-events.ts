import type { LoggedEvent } from '../events/job-event.ts';
import type { JournalEntry } from './entry.ts';

/** Events that wait for a slow reader; the log is read on when it has taken them. */
const MOST_WAITING = 100;

interface LiveParts {
  follow(after: string): AsyncIterable<LoggedEvent>;
  /** Whether the job has ended: asked at each event that may report its end. */
  isOver(): Promise<boolean>;
  after: string;
  /** Whether it had ended before. */
  over: boolean;
}

type Next = { kind: 'entry'; entry: JournalEntry } | { kind: 'event'; event: LoggedEvent } | { kind: 'live' };

/** The events of one job as they come, and whether it is over. */
export class LiveEvents {
  readonly #parts: LiveParts;
  readonly #over = new AbortController();
  #waiting: LoggedEvent[] = [];
  #failure: { error: unknown } | undefined;
  #changed = Promise.withResolvers<void>();
  /** Something has come that `beside` has not looked at. */
  #hasNews = false;
  #wake = () => {};
  #isStopped = false;
  readonly #ended: Promise<void>;

  constructor(parts: LiveParts) {
    this.#parts = parts;
    if (parts.over) this.#over.abort('over');
    this.#ended = parts.over ? Promise.resolve() : this.#follow();
  }

  get isOver(): boolean {
    return this.#over.signal.aborted;
  }

  get over(): AbortSignal {
    return this.#over.signal;
  }

  /** The job has ended, and no event reports it. */
  end(): void {
    this.#over.abort('over');
  }

  /** Follows the log no more, also while it waits for a slow reader. Resolves when that is done. */
  stop(): Promise<void> {
    this.#isStopped = true;
    this.#goOn();
    return this.#ended;
  }

  /** Lets `beside` answer `live` although nothing has come, so that its caller can act at this point. */
  nudge(): void {
    this.#wakeReader();
  }

  /** Entries and events as they come. The end of the job comes behind the last of its entries. */
  async *beside(entries: AsyncGenerator<JournalEntry>): AsyncGenerator<Next> {
    let next = entries.next();
    try {
      for (;;) {
        const read = await this.#nextOf(next);
        if (this.#failure) throw this.#failure.error;
        if (read?.done) break;
        if (read) {
          yield { kind: 'entry', entry: read.value };
          next = entries.next();
        } else if (!this.isOver) {
          yield { kind: 'live' };
          yield* this.#take();
        }
      }
    } finally {
      // It ends with the signal that the caller has given it.
      void next.then(() => entries.return(undefined)).catch(() => {});
    }
    yield* this.#take();
  }

  /**
   * The next entry, or undefined where something else has come, be it while the reader was busy. Not a race: each would
   * leave something in a promise that rests for as long as only entries come.
   */
  async #nextOf(next: Promise<IteratorResult<JournalEntry>>): Promise<IteratorResult<JournalEntry> | undefined> {
    const read = await new Promise<IteratorResult<JournalEntry> | undefined>((resolve, reject) => {
      this.#wake = () => resolve(undefined);
      if (this.#hasNews) this.#wake();
      next.then(resolve, reject);
    });
    if (read === undefined) this.#hasNews = false;
    return read;
  }

  *#take(): Generator<Next> {
    const taken = this.#waiting;
    this.#waiting = [];
    this.#goOn();
    for (const event of taken) yield { kind: 'event', event };
  }

  async #follow(): Promise<void> {
    try {
      for await (const event of this.#parts.follow(this.#parts.after)) {
        this.#waiting.push(event);
        if (await this.#parts.isOver()) this.#over.abort('over');
        this.#wakeReader();
        if (this.isOver) return;
        while (this.#waiting.length >= MOST_WAITING && !this.#isStopped) await this.#changed.promise;
        if (this.#isStopped) return;
      }
    } catch (error) {
      this.#failure = { error };
      this.#wakeReader();
    }
  }

  #wakeReader(): void {
    this.#hasNews = true;
    this.#wake();
    this.#goOn();
  }

  #goOn(): void {
    const { resolve } = this.#changed;
    this.#changed = Promise.withResolvers();
    resolve();
  }
}
