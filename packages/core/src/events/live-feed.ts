import type { EventFilter } from '../store/event-log.ts';
import { eventMatches } from '../store/filters.ts';
import type { LoggedEvent } from './job-event.ts';

/** Events that wait for a slow reader; one more and it is cut off, and reads on by itself. */
const MOST_WAITING = 1_000;

/** What a follower finds when it looks: events, nothing more to come, or that it was too slow. */
export type Fed = { events: LoggedEvent[]; missed: boolean } | 'over' | 'lapsed';

/** One follower's share of what the tailer reads. A slow one never slows the tailer: it lapses. */
export class LiveFeed {
  readonly filter: EventFilter;
  /** Where the feed began: whatever lies behind it comes by the feed. Undefined: the tailer has yet to say. */
  #mark: string | undefined;
  #waiting: LoggedEvent[] = [];
  #missed = false;
  #lapsed = false;
  #over = false;
  #failure: { error: unknown } | undefined;
  #wake: (() => void) | undefined;

  constructor(filter: EventFilter) {
    this.filter = filter;
  }

  get isLive(): boolean {
    return this.#mark !== undefined;
  }

  /** Whether everything so far was taken, and somebody waits for more. */
  get isIdle(): boolean {
    return this.#wake !== undefined && this.isLive && this.#waiting.length === 0;
  }

  begin(mark: string): void {
    this.#mark = mark;
    this.#tell();
  }

  push(event: LoggedEvent): void {
    if (this.#lapsed || this.#over || !this.isLive || !eventMatches(event, this.filter)) return;
    this.#waiting.push(event);
    if (this.#waiting.length > MOST_WAITING) {
      this.#lapsed = true;
      this.#waiting = [];
    }
    this.#tell();
  }

  miss(): void {
    if (!this.isLive) return;
    this.#missed = true;
    this.#tell();
  }

  fail(error: unknown): void {
    this.#failure = { error };
    this.#tell();
  }

  end(): void {
    this.#over = true;
    this.#waiting = [];
    this.#tell();
  }

  /** Where the feed begins; undefined: it was ended before that. */
  async mark(): Promise<string | undefined> {
    while (this.#mark === undefined && !this.#over) await this.#something();
    return this.#over ? undefined : this.#mark;
  }

  /** Everything that has come since the last call, as soon as there is something. For one reader at a time. */
  async take(): Promise<Fed> {
    for (;;) {
      if (this.#over) return 'over';
      if (this.#waiting.length > 0 || this.#missed) return this.#takeAll();
      if (this.#lapsed) return 'lapsed';
      await this.#something();
    }
  }

  #takeAll(): Fed {
    const fed = { events: this.#waiting, missed: this.#missed };
    this.#waiting = [];
    this.#missed = false;
    return fed;
  }

  async #something(): Promise<void> {
    if (this.#failure === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  #tell(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}
