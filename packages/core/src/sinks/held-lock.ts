import { createHash } from 'node:crypto';
import type { Clock } from '../clock.ts';
import type { LockStore } from '../store/locks.ts';
import type { RivalLease } from '../store/rival-lease.ts';
import type { SinkKey } from './sink.ts';

/** A server that dies is replaced this much later at most. */
export const LEASE_MS = 30_000;
export const RENEW_EVERY_MS = LEASE_MS / 3;

const LONGEST_NAME = 256;

/** Names are not a tenant's, so it is part of them. */
export function lockName({ tenant, id }: SinkKey): string {
  const name = `sink:${encodeURIComponent(tenant)}:${id}`;
  return name.length <= LONGEST_NAME ? name : `sink#${createHash('sha256').update(name).digest('hex')}`;
}

/** The right of this server to deliver to one sink, as far as it knows. */
export class HeldLock {
  readonly #parts: { locks: LockStore; clock: Clock; owner: string; name: string };
  readonly #fence: number;
  #until: number;

  private constructor(
    parts: { locks: LockStore; clock: Clock; owner: string; name: string },
    fence: number,
    until: number,
  ) {
    this.#parts = parts;
    this.#fence = fence;
    this.#until = until;
  }

  /** The lock, or until when another server holds it at least. */
  static async take(parts: {
    locks: LockStore;
    clock: Clock;
    owner: string;
    name: string;
    rival: RivalLease;
  }): Promise<HeldLock | { takenUntil: number }> {
    const { locks, clock, owner, name, rival } = parts;
    const before = clock.monotonic();
    const answer = await rival.take(locks, { name, owner }, clock);
    if (answer.status === 'taken') return { takenUntil: answer.until };
    return new HeldLock(parts, answer.fence, before + LEASE_MS);
  }

  /** By this machine's own time since the lock was asked for, so never longer than by the store's. */
  get isHeld(): boolean {
    return this.#parts.clock.monotonic() < this.#until;
  }

  /** Answers whether the lock is still ours. A store that does not answer leaves the lease as it is. */
  async renew(): Promise<boolean> {
    const { locks, clock, owner, name } = this.#parts;
    const before = clock.monotonic();
    const answer = await locks.take({ name, owner, leaseMs: LEASE_MS });
    // Another fence: somebody else has had it in between.
    if (answer.status === 'taken' || answer.fence !== this.#fence) {
      this.#until = Number.NEGATIVE_INFINITY;
      return false;
    }
    this.#until = before + LEASE_MS;
    return true;
  }

  async release(): Promise<void> {
    const { locks, owner, name } = this.#parts;
    this.#until = Number.NEGATIVE_INFINITY;
    await locks.release({ name, owner, fence: this.#fence });
  }
}
