import { admitted, claimed, freeSlots, type Job, type LimitRule, type LimitUse, rankFor } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, all, equals } from './conditions.ts';
import { type Item, present } from './items.ts';
import { jobKey, parkedKey } from './keys.ts';
import { type Limit, limitWrite, NO_RULE, placeOf, readLimit, type Waiting, windowUnder } from './limit-items.ts';
import { readRows } from './read.ts';
import { changingOf, codeOf, headOf, stateOf } from './rows.ts';
import type { Write } from './writes.ts';

/** Admissions of one transaction: each is a row and its place in line. */
const MOST_ADMITTED = 30;

const isParked = (row: Item): boolean => stateOf(row) === 'available' && 'lk' in row && !('hs' in row);

/** What becomes of one limit in one transaction: counts move, jobs come into line and leave it, slots are given. */
export class LimitDraft {
  readonly #limit: Limit;
  readonly #line: Waiting[];
  #rule: LimitRule | null;
  #isSetting: boolean;
  #use: LimitUse;
  #admits = false;
  #touched: boolean;
  readonly #entering: Job[] = [];
  readonly #leaving: Job[] = [];

  constructor(limit: Limit, line: Waiting[]) {
    this.#limit = limit;
    this.#line = line;
    this.#rule = limit.rule;
    this.#isSetting = limit.isSetting;
    this.#use = limit.use;
    this.#touched = limit.version === 0;
  }

  static async read(base: Base, tenant: string, key: string): Promise<LimitDraft> {
    const { limit, line } = await readLimit(base, tenant, key, MOST_ADMITTED + 10);
    return new LimitDraft(limit, line);
  }

  get rule(): LimitRule | null {
    return this.#rule;
  }

  setRule(rule: LimitRule): void {
    if (JSON.stringify(rule) === JSON.stringify(this.#rule)) return;
    this.#use = { ...this.#use, window: windowUnder(rule, this.#rule, this.#use.window) };
    this.#rule = rule;
    this.#touched = true;
  }

  /** The rule was set by itself: the limit stays, however long nobody uses it. */
  keep(): void {
    this.#touched ||= !this.#isSetting;
    this.#isSetting = true;
  }

  /** A job that comes back brings the rule that it came with, where the limit was removed because nobody used it. */
  bringBack(rule: LimitRule): void {
    if (this.#limit.version === 0 && this.#rule === null) this.setRule(rule);
  }

  /** A row changes from one state to another; null: it comes. Who is available without a slot stands in line. */
  move(before: Job | null, after: Job): void {
    const holders = Number(after.holdsSlot) - Number(before?.holdsSlot ?? false);
    const unclaimed = unclaimedIn(after) - (before ? unclaimedIn(before) : 0);
    if (holders !== 0 || unclaimed !== 0) this.#touched = true;
    this.#use = { ...this.#use, holders: this.#use.holders + holders, unclaimed: this.#use.unclaimed + unclaimed };
    if (before && waits(before)) this.#leaving.push(before);
    if (waits(after)) this.#entering.push(after);
    if (this.#leaving.length > 0 || this.#entering.length > 0) this.#touched = true;
  }

  /** Jobs with a slot begin to run. */
  start(count: number, now: number): void {
    this.#use = claimed(this.#rule ?? NO_RULE, this.#use, count, now);
    this.#touched = true;
  }

  /** Whatever is free shall be given to those who stand first. */
  admit(): void {
    this.#admits = true;
  }

  /** The writes of the limit, its line and those admitted from it. Rows that come or change are the caller's. */
  async finish(base: Base, now: number): Promise<Drafted> {
    const left = new Set(this.#leaving.map(({ id }) => id));
    const entering = new Map(this.#entering.map((job) => [job.id, job]));
    const line = [...this.#line.filter(({ id }) => !left.has(id)), ...this.#entering.map(placeOf)].sort(byRank);
    const free = this.#admits ? freeSlots(this.#rule ?? NO_RULE, this.#use, now) : 0;
    const first = line.slice(0, Math.min(free, MOST_ADMITTED));
    const drafted: Drafted = {
      writes: [],
      entered: new Set(),
      admitted: [],
      isMore: free > first.length && line.length > first.length,
    };
    const { tenant, key } = this.#limit;
    const waiting = first.filter(({ id }) => !entering.has(id));
    const rows = await readRows(
      base,
      waiting.map(({ id }) => jobKey(tenant, id)),
    );
    for (const [index, place] of waiting.entries()) {
      drafted.writes.push({ delete: parkedKey(tenant, key, place.rank, place.id) });
      const row = rows[index];
      if (row && isParked(row)) giveSlot(base, row, drafted);
      else drafted.isMore = true;
    }
    const taken = new Set(first.map(({ id }) => id));
    for (const [id, job] of entering) {
      if (taken.has(id)) drafted.entered.add(id);
      else if (!this.#line.some((place) => place.id === id && place.rank === placeOf(job).rank)) {
        const { rank } = placeOf(job);
        drafted.writes.push({ put: { ...parkedKey(tenant, key, rank, id) } });
      }
    }
    for (const job of this.#leaving) {
      const stays = this.#entering.find(({ id }) => id === job.id);
      const place = placeOf(job);
      if (stays && placeOf(stays).rank === place.rank && !taken.has(job.id)) continue;
      drafted.writes.push({ delete: parkedKey(tenant, key, place.rank, place.id) });
    }
    const count = drafted.admitted.length + drafted.entered.size;
    if (!this.#touched && count === 0 && drafted.writes.length === 0) return drafted;
    const after = { ...this.#limit, rule: this.#rule, isSetting: this.#isSetting, use: admitted(this.#use, count) };
    drafted.writes.unshift(limitWrite(this.#limit, after, line.length > first.length, now, base.settings));
    return drafted;
  }
}

export interface Drafted {
  writes: Write[];
  /** Of those who come into line in this transaction, those who get a slot at once. */
  entered: Set<string>;
  /** Rows of others that get a slot. */
  admitted: Item[];
  /** There may be more to give than one transaction holds. */
  isMore: boolean;
}

const byRank = (a: Waiting, b: Waiting): number =>
  a.rank === b.rank ? (a.id < b.id ? -1 : 1) : a.rank < b.rank ? -1 : 1;

const waits = (job: Job): boolean => job.state === 'available' && job.limitKey !== null && !job.holdsSlot;

/** Holds a slot that nobody has claimed yet. */
const unclaimedIn = (job: Job): number => (job.holdsSlot && job.state !== 'active' ? 1 : 0);

export const withSlot = (job: Job): Job => {
  const holding = { ...job, holdsSlot: true };
  return { ...holding, rank: rankFor(holding) };
};

/** Admission writes no event, so the version stays; who decided by the row as it was compares the slot too. */
function giveSlot(base: Base, row: Item, drafted: Drafted): void {
  const job = withSlot(headOf(row));
  const { rq, rk } = changingOf(job, base.settings);
  drafted.writes.push({
    update: jobKey(job.tenant, job.id),
    change: { set: present({ hs: 1, rq, rk }) },
    if: all(equals('vr', job.version), equals('st', codeOf('available')), absent('hs')),
  });
  drafted.admitted.push({ ...row, hs: 1, ...present({ rq, rk }) });
}
