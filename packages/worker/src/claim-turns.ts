import type { Lease } from '@waybill/core';
import type { QueueOrder, ResolvedQueue } from './queue-options.ts';
import type { QueueSlots } from './queue-slots.ts';

/** What one claim asks for. */
export interface Turn {
  /** In order: a job of an earlier queue goes first. */
  queues: readonly string[];
  count: number;
  waitMs: number;
  /** Ends the wait when a queue that had to be left out may be claimed again. */
  reopened: AbortController | null;
}

/** Decides from claim to claim which queues are named, in which order and for how many jobs. */
export interface ClaimTurns {
  /** Null: every queue is at its bound. */
  next(room: number): Turn | null;
  /** What the claim of this turn has brought. */
  brought(turn: Turn, leases: readonly Lease[]): void;
}

/** One queue, or always the same order. The turn is one object for all claims, because nothing else changes. */
export function sameTurns(queues: readonly string[], waitMs: number): ClaimTurns {
  const turn: Turn = { queues, count: 0, waitMs, reopened: null };
  return {
    next: (room) => {
      turn.count = room;
      return turn;
    },
    brought: () => {},
  };
}

interface Share extends ResolvedQueue {
  /** Starts that the queue has had too few of; negative: too many. */
  credit: number;
  /** The last claims have shown that it has no jobs. */
  isDry: boolean;
}

/**
 * Shares the starts of a worker over its queues, and keeps each queue within its bound.
 *
 * A claim gives jobs of earlier queues first, so the order decides who is served, and queues without jobs cost nothing: the
 * claim goes on to the next. The order is a smooth weighted round robin by jobs, not by claims, because claims differ
 * in size: every job that was claimed is a debt of its queue, and is owed to all queues by their weights.
 *
 * A claim never asks for more jobs than each of the queues that it names may have, because all of its jobs may be of one.
 * So the first queue decides how many, and queues that may have fewer are left out. Such a claim does not wait: only one
 * that names every open queue does. Without bounds, all claims do.
 */
export class SharedTurns implements ClaimTurns {
  readonly #shares: readonly Share[];
  readonly #isFair: boolean;
  readonly #slots: QueueSlots;
  readonly #waitMs: number;
  /** Those that may be claimed in this turn, in order. */
  #open: readonly Share[] = [];
  #reopened: AbortController | null = null;

  constructor(queues: readonly ResolvedQueue[], order: QueueOrder, slots: QueueSlots, waitMs: number) {
    this.#shares = queues.map((queue) => ({ ...queue, credit: 0, isDry: false }));
    this.#isFair = order === 'fair';
    this.#slots = slots;
    this.#waitMs = waitMs;
    slots.onReopened = () => this.#reopened?.abort();
  }

  next(room: number): Turn | null {
    const roomFor = ({ name }: Share): number => Math.min(room, this.#slots.free(name));
    const open = this.#shares.filter((share) => roomFor(share) > 0);
    if (open.length === 0) return null;
    // Sorting is stable: at the beginning, and between equals, the order is the one that was given.
    if (this.#isFair) open.sort((one, other) => other.credit - one.credit);
    this.#open = open;
    const first = open.find(({ isDry }) => !isDry);
    const count = first === undefined ? Math.min(...open.map(roomFor)) : roomFor(first);
    const named = open.filter((share) => roomFor(share) >= count);
    const namesAll = named.length === open.length;
    this.#reopened = namesAll && open.length < this.#shares.length ? new AbortController() : null;
    return {
      queues: named.map(({ name }) => name),
      count,
      waitMs: namesAll ? this.#waitMs : 0,
      reopened: this.#reopened,
    };
  }

  brought({ queues, count, reopened }: Turn, leases: readonly Lease[]): void {
    this.#reopened = null;
    // Broken off, the claim says nothing of the queues that gave no job.
    if (reopened?.signal.aborted && leases.length === 0) return;
    const served = new Map<string, number>();
    for (const { job } of leases) served.set(job.queue, (served.get(job.queue) ?? 0) + 1);
    const isShort = leases.length < count;
    // Jobs of a later queue show that the earlier ones have none.
    const last = queues.findLastIndex((queue) => served.has(queue));
    const empty = new Set(isShort ? queues : queues.slice(0, Math.max(0, last)));
    const isAllEmpty = isShort && queues.length === this.#open.length;
    this.#noteDry(empty, isShort, isAllEmpty);
    if (this.#isFair) this.#account(served, leases.length, empty, isAllEmpty);
  }

  /** A dry queue is not the first of the next claim, which would only be made smaller by its bound. */
  #noteDry(empty: ReadonlySet<string>, isShort: boolean, isAllEmpty: boolean): void {
    for (const share of this.#shares) {
      share.isDry = !isAllEmpty && (empty.has(share.name) || (isShort && share.isDry));
    }
  }

  #account(served: ReadonlyMap<string, number>, total: number, empty: ReadonlySet<string>, isAllEmpty: boolean): void {
    const open = this.#open;
    const weights = weightOf(open);
    let unused = 0;
    for (const share of open) {
      if (isAllEmpty) share.credit = 0;
      else share.credit += (total * share.weight) / weights - (served.get(share.name) ?? 0);
      // A queue cannot save up starts for jobs that it does not have; what it leaves goes to the others.
      if (!empty.has(share.name) || share.credit <= 0) continue;
      unused += share.credit;
      share.credit = 0;
    }
    const others = open.filter(({ name }) => !empty.has(name));
    for (const share of others) share.credit += (unused * share.weight) / weightOf(others);
  }
}

const weightOf = (shares: readonly Share[]): number => shares.reduce((sum, { weight }) => sum + weight, 0);
