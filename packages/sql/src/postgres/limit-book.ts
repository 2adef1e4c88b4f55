import {
  admitted,
  claimed,
  freeSlots,
  type Job,
  type LimitRule,
  type LimitUse,
  nextLook,
  rankFor,
  USE_NOTED_EVERY_MS,
} from '@waybill/core';
import { isSamePeriod, isSameRule, NO_RULE, ruleCells, ruleOf, windowCell, windowOf } from '../limit-rows.ts';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { placeOf } from './columns.ts';
import { keyOf } from './keys.ts';
import type { Queryable } from './link/link.ts';
import { asFarAsReadable, type Row } from './rows.ts';

export interface LimitName {
  tenant: string;
  key: string;
}

interface Limit extends LimitName {
  rule: LimitRule | null;
  use: LimitUse;
  /** Whether the rule was set by itself, and did not come with a job. */
  isSetting: boolean;
  /** Whether this transaction has made it, so that it has no rule yet. */
  isNew: boolean;
  /** Whether jobs in the table may wait for a slot. */
  hasParked: boolean;
  /** Jobs that this transaction is about to insert and that wait for a slot. */
  newcomers: Newcomer[];
}

export interface Newcomer {
  job: Job;
}

/** What a write to one row means for the counts of its limit. */
export interface Shift {
  holders: number;
  unclaimed: number;
}

type LimitCells = [string, string, number | null, number | null, number | null, number, number, string | null, boolean];

/** A removed limit is made again; whoever finds it removed so often does not do so by chance. */
const MOST_TRIES = 8;

/**
 * The limits that one transaction works with, locked from the beginning to its end: limits first and in the order of
 * their keys, rows after them. What was decided is written once, by `write`.
 */
export class LimitBook {
  readonly #base: Base;
  readonly #tx: Queryable;
  readonly #now: number;
  readonly #limits = new Map<string, Limit>();
  /** Queues of the jobs that got a slot. */
  readonly #woken = new Set<string>();

  private constructor(base: Base, tx: Queryable, now: number) {
    this.#base = base;
    this.#tx = tx;
    this.#now = now;
  }

  static async lock(base: Base, tx: Queryable, names: Iterable<LimitName>, now: number): Promise<LimitBook> {
    const book = new LimitBook(base, tx, now);
    const all = new Map([...names].map((name) => [keyOf(name.tenant, name.key), name]));
    if (all.size > 0) await book.#lock([...all.values()]);
    return book;
  }

  async #lock(names: readonly LimitName[]): Promise<void> {
    const keys = [textArray(names.map(({ tenant }) => tenant)), textArray(names.map(({ key }) => key))];
    const { sql } = this.#base;
    const lock = () => this.#tx.query<LimitCells>(sql['limits-lock'], keys);
    let rows = await lock();
    const known = new Set(rows.map(([tenant, key]) => keyOf(tenant, key)));
    // More than once only where pruning removes a limit between the two statements.
    for (let tries = 0; rows.length < names.length && tries < MOST_TRIES; tries += 1) {
      await this.#tx.query(sql['limits-note'], keys);
      rows = await lock();
    }
    for (const [tenant, key, concurrency, rateLimit, ratePeriodMs, holders, unclaimed, starts, isSetting] of rows) {
      const use = { holders, unclaimed, window: windowOf(starts) };
      const rule = ruleOf(concurrency, rateLimit, ratePeriodMs);
      const isNew = !known.has(keyOf(tenant, key));
      this.#limits.set(keyOf(tenant, key), {
        ...{ tenant, key, rule, use, isSetting, isNew },
        hasParked: true,
        newcomers: [],
      });
    }
    await this.#countStarts(keys);
  }

  /** What claims have left since the limit was last locked. By a statement of its own, since it must see them all. */
  async #countStarts(keys: (string | null)[]): Promise<void> {
    const rows = await this.#tx.query<[string, string, number, number]>(this.#base.sql['limit-starts-take'], keys);
    for (const [tenant, key, at, starts] of rows.sort((a, b) => a[2] - b[2])) {
      const limit = this.#of(tenant, key);
      limit.use = claimed(limit.rule ?? NO_RULE, limit.use, starts, at);
    }
  }

  #of(tenant: string, key: string): Limit {
    const limit = this.#limits.get(keyOf(tenant, key));
    if (!limit) throw new Error(`The limit ${key} was not locked.`);
    return limit;
  }

  setRule(tenant: string, key: string, rule: LimitRule): void {
    const limit = this.#of(tenant, key);
    if (isSameRule(limit.rule, rule)) return;
    if (!isSamePeriod(limit.rule, rule)) limit.use = { ...limit.use, window: [] };
    limit.rule = rule;
  }

  /** The rule was set by itself: the limit stays, however long nobody uses it. */
  keep(tenant: string, key: string): void {
    this.#of(tenant, key).isSetting = true;
  }

  /** A job that comes back brings the rule that it came with, where the limit was removed because nobody used it. */
  bringBack(tenant: string, key: string, rule: LimitRule): void {
    const limit = this.#of(tenant, key);
    if (limit.isNew && limit.rule === null) limit.rule = rule;
  }

  count(tenant: string, key: string, { holders, unclaimed }: Shift): void {
    const limit = this.#of(tenant, key);
    limit.use = { ...limit.use, holders: limit.use.holders + holders, unclaimed: limit.use.unclaimed + unclaimed };
  }

  /** A job that is about to be inserted, parked: `admit` may change it. */
  expect(newcomer: Newcomer): void {
    const { tenant, limitKey, state, holdsSlot } = newcomer.job;
    if (holdsSlot) this.count(tenant, limitKey!, { holders: 1, unclaimed: 1 });
    else if (state === 'available') this.#of(tenant, limitKey!).newcomers.push(newcomer);
  }

  /** Gives every slot that is free now to whoever stands first in line; answers those who were in the table. */
  async admit(tenant: string, key: string): Promise<Job[]> {
    const limit = this.#of(tenant, key);
    const free = freeSlots(limit.rule ?? NO_RULE, limit.use, this.#now);
    if (free === 0) return [];
    const parked = limit.hasParked ? await this.#parked(limit, free) : [];
    const inLine = [...parked, ...limit.newcomers].sort((a, b) => (placeOf(a.job) < placeOf(b.job) ? -1 : 1));
    const lucky = Number.isFinite(free) ? inLine.slice(0, free) : inLine;
    for (const one of lucky) one.job = withSlot(one.job);
    limit.use = admitted(limit.use, lucky.length);
    limit.newcomers = limit.newcomers.filter((one) => !lucky.includes(one));
    const stored = parked.filter((one) => lucky.includes(one)).map(({ job }) => job);
    for (const { queue } of stored) this.#woken.add(queue);
    if (stored.length > 0) {
      await this.#tx.query(this.#base.sql.admit, [tenant, plainArray(stored.map(({ id }) => id))]);
    }
    return stored;
  }

  async #parked(limit: Limit, free: number): Promise<Newcomer[]> {
    const most = Number.isFinite(free) ? free : null;
    const rows = await this.#tx.query<Row>(this.#base.sql['parked-next'], [limit.tenant, limit.key, most]);
    if (most === null || rows.length < most) limit.hasParked = false;
    // One that cannot be read gets its slot in its turn, so that it keeps nobody behind it waiting.
    return rows.map((row) => ({ job: asFarAsReadable(row) }));
  }

  /** Rows of the limit were written in the table by other means, and some of them may wait now. */
  notice(tenant: string, key: string): void {
    this.#of(tenant, key).hasParked = true;
  }

  /** Last of all, since whether somebody waits is read from the table. */
  async write(): Promise<void> {
    const all = [...this.#limits.values()];
    if (all.length === 0) return;
    const rules = all.map(({ rule }) => ruleCells(rule));
    const freeAt = all.map(({ rule, use }) => (rule === null ? null : nextLook(rule, use, this.#now)));
    await this.#tx.query(this.#base.sql['limits-write'], [
      textArray(all.map(({ tenant }) => tenant)),
      textArray(all.map(({ key }) => key)),
      plainArray(rules.map(([concurrency]) => concurrency)),
      plainArray(rules.map(([, rateLimit]) => rateLimit)),
      plainArray(rules.map(([, , periodMs]) => periodMs)),
      plainArray(all.map(({ use }) => use.holders)),
      plainArray(all.map(({ use }) => use.unclaimed)),
      textArray(all.map(({ use }) => windowCell(use.window))),
      plainArray(freeAt),
      plainArray(all.map(({ isSetting }) => isSetting)),
      this.#now,
      USE_NOTED_EVERY_MS,
    ]);
    const wake = this.#woken.size === 0 ? null : this.#base.bell.payload(this.#woken);
    if (wake !== null) await this.#tx.query(this.#base.sql.notify, [wake]);
  }
}

function withSlot(job: Job): Job {
  const holder = { ...job, holdsSlot: true };
  return { ...holder, rank: rankFor(holder) };
}

/** A holder that somebody runs is a start already. */
export const isUnclaimed = (job: Pick<Job, 'state' | 'holdsSlot'>): number =>
  job.holdsSlot && job.state !== 'active' ? 1 : 0;
