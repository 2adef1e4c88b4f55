import type { Clock } from '../clock.ts';
import { WaybillError } from '../errors.ts';
import type { Logger } from '../logger.ts';

/** Something that the sweep looks after. */
export interface Item {
  kind: 'job' | 'cron' | 'limit' | 'batch' | 'workflow';
  tenant: string;
  /** Id of a job or workflow, name of a cron, key of a limit. */
  id: string;
  /** Of a cron: grows with every change by a person. */
  version?: number;
}

export interface FailingItem extends Item {
  reason: string;
  /** In a row. */
  failures: number;
  since: number;
  nextTryAt: number;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;
/** Others are tried in every sweep, and neither named nor logged. */
const MOST_KEPT = 10_000;
/** An item that was not seen to fail again by then was repaired, ended or removed, here or by another server. */
const FORGOTTEN_AFTER_MS = 10_000;

interface Kept {
  failing: FailingItem;
  /** The row itself says when to look at it again, so it is not due meanwhile. */
  isNoted: boolean;
  /** By monotonic time: a clock that is set back must not hold an item for longer. */
  heldUntil: number;
}

/**
 * What the sweep failed to do, so that one bad item neither stops the others nor is tried in every sweep. Each failure
 * doubles the pause before the next try, up to an hour. Kept in memory: after a restart an item is simply tried again.
 */
export class FailingItems {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #kept = new Map<string, Kept>();
  /** How many the last sweep has met and left alone, so that the next one can look past them. */
  passed = 0;

  constructor(clock: Clock, logger: Logger) {
    this.#clock = clock;
    this.#logger = logger;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Whether the item failed a while ago and its next try has not come. */
  holds(item: Item): boolean {
    if (this.#kept.size === 0) return false;
    const kept = this.#kept.get(keyOf(item));
    return kept !== undefined && kept.heldUntil > this.#clock.monotonic();
  }

  failed(item: Item, error: unknown): FailingItem {
    const key = keyOf(item);
    const now = this.#clock.now();
    const before = this.#kept.get(key)?.failing;
    const failures = (before?.failures ?? 0) + 1;
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS);
    const { kind, tenant, id } = item;
    const times = { failures, since: before?.since ?? now, nextTryAt: now + pauseMs };
    const failing = { kind, tenant, id, reason: reasonOf(error), ...times };
    if (before === undefined && this.#kept.size >= MOST_KEPT) return failing;
    this.#kept.set(key, { failing, isNoted: false, heldUntil: this.#clock.monotonic() + pauseMs });
    const fields = { err: error, kind, id, tenant, failures };
    this.#logger.warn(fields, `Maintenance of a ${kind} failed and was put off by ${pauseMs / 1_000} s.`);
    return failing;
  }

  succeeded(item: Item): void {
    if (this.#kept.size > 0) this.#kept.delete(keyOf(item));
  }

  /** The row of this item takes part in putting it off. */
  noted(item: Item): void {
    const kept = this.#kept.get(keyOf(item));
    if (kept) kept.isNoted = true;
  }

  /** Forgets whatever is not due any more, although nothing but this holds it back: it was repaired or removed. */
  forget(due: readonly Item[]): void {
    if (this.#kept.size === 0) return;
    const now = this.#clock.monotonic();
    const keys = new Set(due.map(keyOf));
    for (const [key, { heldUntil, isNoted }] of this.#kept) {
      if (!keys.has(key) && (!isNoted || now > heldUntil + FORGOTTEN_AFTER_MS)) this.#kept.delete(key);
    }
  }

  /** The longest failing first. */
  list(): FailingItem[] {
    return [...this.#kept.values()].map(({ failing }) => failing).sort((a, b) => a.since - b.since);
  }
}

const keyOf = ({ kind, tenant, id, version = 0 }: Item): string => `${kind}\n${tenant}\n${id}\n${version}`;

/** Whatever else went wrong was not worded for callers, and may hold secrets; the log has it. */
export const reasonOf = (error: unknown): string =>
  error instanceof WaybillError ? error.message : 'An unexpected error occurred; the log of the server has it.';
