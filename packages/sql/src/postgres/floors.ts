import type { Clock, Job } from '@waybill/core';
import { placeOf } from './columns.ts';
import { keyOf } from './keys.ts';

/** So long a job of another process that goes before ours may be overlooked. */
const KEPT_MS = 500;

interface Floor {
  place: string;
  /** When the queue was last read from its start. */
  since: number;
}

/**
 * Below which place a queue holds nothing to claim. Where an old transaction keeps dead entries in the index, a claim
 * would walk all of them each time; from the floor on it walks none. Known only to this process: our own jobs that go
 * before it lower it, those of others are found when it is dropped.
 */
export class Floors {
  readonly #clock: Clock;
  readonly #floors = new Map<string, Floor>();
  /** Grows when a floor was lowered: a claim that began before must not raise it again. */
  #lowered = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get lowered(): number {
    return this.#lowered;
  }

  of(tenant: string, queue: string): string | null {
    const key = keyOf(tenant, queue);
    const floor = this.#floors.get(key);
    if (floor === undefined) return null;
    if (this.#clock.monotonic() - floor.since < KEPT_MS) return floor.place;
    this.#floors.delete(key);
    return null;
  }

  /** After a claim that got as much as it wanted: `last` is the job of the queue that stood last. */
  raise(last: Job, lowered: number): void {
    if (lowered !== this.#lowered) return;
    const key = keyOf(last.tenant, last.queue);
    const since = this.#floors.get(key)?.since ?? this.#clock.monotonic();
    this.#floors.set(key, { place: placeOf(last), since });
  }

  drop(tenant: string, queue: string): void {
    this.#floors.delete(keyOf(tenant, queue));
  }

  /** A job can be claimed from now on. */
  lower(job: Job): void {
    const key = keyOf(job.tenant, job.queue);
    const floor = this.#floors.get(key);
    if (floor !== undefined && placeOf(job) >= floor.place) return;
    this.#floors.delete(key);
    this.#lowered += 1;
  }
}
