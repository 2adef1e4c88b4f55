import type { Job } from '@waybill/core';
import type { Floors } from './floors.ts';
import type { Link } from './link/link.ts';

/** Other processes are told of a queue at most so often; what comes in between is told at the end of it. */
const QUIET_MS = 2;

/** PostgreSQL refuses more than 8,000 bytes; whoever hears of many queues at once may as well look at all. */
const MOST_BYTES = 4_000;
const ANY_QUEUE = '';

const MOST_REMEMBERED = 1_000;

/** Tells this process and others that jobs have become claimable. */
export class Bell {
  readonly #link: Link;
  readonly #floors: Floors;
  readonly #notify: (payload: string | null) => Promise<unknown>;
  readonly #rungAt = new Map<string, number>();
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(link: Link, floors: Floors, notify: string) {
    this.#link = link;
    this.#floors = floors;
    this.#notify = (payload) => link.query(notify, [payload]);
  }

  /** What the writing statement shall notify others with; null: nothing new, or they were told a moment ago. */
  payload(queues: Iterable<string>): string | null {
    const now = performance.now();
    // Names of queues may be made up by the minute.
    if (this.#rungAt.size > MOST_REMEMBERED) this.#rungAt.clear();
    const fresh: string[] = [];
    for (const queue of new Set(queues)) {
      if (now - (this.#rungAt.get(queue) ?? Number.NEGATIVE_INFINITY) >= QUIET_MS) {
        fresh.push(queue);
        this.#rungAt.set(queue, now);
      } else this.#waiting.add(queue);
    }
    if (this.#waiting.size > 0) this.#timer ??= setTimeout(() => this.#ringLate(), QUIET_MS).unref();
    return payloadOf(fresh);
  }

  /** After the commit, so that a listener that claims at once finds the jobs. */
  ready(jobs: readonly Job[]): void {
    const queues = new Set<string>();
    for (const job of jobs) {
      if (job.rank === null) continue;
      this.#floors.lower(job);
      queues.add(job.queue);
    }
    if (queues.size > 0) this.#link.wake([...queues]);
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  #ringLate(): void {
    this.#timer = null;
    const queues = [...this.#waiting];
    this.#waiting.clear();
    const now = performance.now();
    for (const queue of queues) this.#rungAt.set(queue, now);
    // Only a hint: whoever misses it polls.
    this.#notify(payloadOf(queues)).catch(() => {});
  }
}

export const readyQueues = (jobs: readonly Job[]): string[] =>
  jobs.filter((job) => job.rank !== null).map((job) => job.queue);

/** What a notification tells of these queues; null where there are none. */
export function payloadOf(queues: Iterable<string>): string | null {
  const names = [...new Set(queues)];
  if (names.length === 0) return null;
  const text = JSON.stringify(names);
  return Buffer.byteLength(text) > MOST_BYTES ? ANY_QUEUE : text;
}
