import type { Clock } from '../clock.ts';
import type { Json } from '../json.ts';
import { joined, nextLeaving, startsIn, type Window, withStarts } from '../limits/window.ts';
import type { RecordStore } from '../store/records.ts';
import { recordsByTenant } from './tenant-limits.ts';
import { SHARE_OF_ROOM } from './waiting-use.ts';

const RATE_RECORDS = recordsByTenant('tenant-enqueued');
const LOOK_EVERY_MS = 1_000;
/** Other engines may write the same record at the same moment; what was not told is told with the next look. */
const MOST_TRIES = 5;
/** The record goes by itself when nobody enqueues any more. */
const KEPT_MS = 60_000;

interface Parts {
  records: RecordStore;
  clock: Clock;
}

/**
 * How many jobs of a tenant all engines have enqueued in the last period. Each engine counts its own and adds them to a
 * record of the tenant, where it sees what the others have added: once a second, and when its own take up its share of the room.
 */
export class RateUse {
  readonly #parts: Parts;
  readonly #tenant: string;
  readonly #periodMs: number;
  /** What the others may know, with the own. */
  #all: Window = [];
  #untold: Window = [];
  #nextLookAt = Number.NEGATIVE_INFINITY;
  #looking: Promise<void> | null = null;

  constructor(parts: Parts, tenant: string, periodMs: number) {
    this.#parts = parts;
    this.#tenant = tenant;
    this.#periodMs = periodMs;
  }

  get periodMs(): number {
    return this.#periodMs;
  }

  get count(): number {
    return startsIn(this.#all, this.#parts.clock.now(), this.#periodMs);
  }

  /** When the oldest of those that count leaves the period. */
  get freeInMs(): number {
    const now = this.#parts.clock.now();
    return Math.max(1, (nextLeaving(this.#all, now, this.#periodMs) ?? now) - now);
  }

  add(count: number): void {
    const now = this.#parts.clock.now();
    this.#all = withStarts(this.#all, count, now, this.#periodMs);
    this.#untold = withStarts(this.#untold, count, now, this.#periodMs);
  }

  /** Before so many more are enqueued under this limit. */
  async refresh(limit: number, more: number): Promise<void> {
    if (this.#parts.clock.monotonic() < this.#nextLookAt && this.#isEnough(limit, more)) return;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null;
    });
    await this.#looking;
  }

  /** Whether what is known is good enough to decide by. */
  #isEnough(limit: number, more: number): boolean {
    const { count } = this;
    const untold = startsIn(this.#untold, this.#parts.clock.now(), this.#periodMs);
    return count + more > limit || untold + more <= (limit - count + untold) * SHARE_OF_ROOM;
  }

  async #look(): Promise<void> {
    const { records, clock } = this.#parts;
    const key = RATE_RECORDS.keyOf(this.#tenant);
    this.#nextLookAt = clock.monotonic() + LOOK_EVERY_MS;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const [record] = await records.get([key]);
      const now = clock.now();
      const shared = windowIn(record?.value['window'], record?.value['periodMs'] === this.#periodMs);
      const mine = this.#untold;
      const all = joined(shared, mine, now, this.#periodMs);
      if (mine.length === 0) {
        this.#all = all;
        return;
      }
      const value = { periodMs: this.#periodMs, window: all.map((slice) => [...slice]) };
      const expiresAt = now + 2 * this.#periodMs + KEPT_MS;
      const [answer] = await records.put([{ ...key, value, expected: record?.version ?? 0, expiresAt }]);
      if (answer!.status === 'conflict') continue;
      // What was enqueued while the record was written is still to be told.
      this.#untold = without(this.#untold, mine);
      this.#all = joined(all, this.#untold, now, this.#periodMs);
      return;
    }
  }
}

/** A window under another period means nothing. */
function windowIn(value: Json | undefined, isSamePeriod: boolean): Window {
  if (!isSamePeriod || !Array.isArray(value)) return [];
  return value.filter(
    (one): one is [number, number] => Array.isArray(one) && one.every((part) => Number.isSafeInteger(part)),
  );
}

const without = (window: Window, told: Window): Window => {
  const counts = new Map(told);
  return window
    .map(([slice, starts]): [number, number] => [slice, starts - (counts.get(slice) ?? 0)])
    .filter(([, starts]) => starts > 0);
};
