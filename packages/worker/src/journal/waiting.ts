import { DROPPED_TYPE } from '@waybill/core';
import type { Batch } from './delivery.ts';
import { missing, type PendingEntry } from './pending-entry.ts';

/** What makes a batch. */
export const BATCH_ENTRIES = 50;
export const BATCH_BYTES = 64 * 1_024;

export interface Taken extends Batch {
  pending: readonly PendingEntry[];
  bytes: number;
}

/** Entries of one run that are not safe yet: bounded, in order, and numbered when it is taken. */
export class Waiting {
  readonly #maxBytes: number;
  #pending: PendingEntry[] = [];
  /** Of those that wait, and of those that were taken and are not safe yet. */
  #bytes = 0;
  #waitingBytes = 0;
  /** Critical ones that wait for room. */
  #blocked: PendingEntry[] = [];
  #blockedBytes = 0;
  #next = 1;
  #dropped = { entries: 0, bytes: 0, reason: '' };
  /** From the first entry that did not fit until half of the room is free: so one entry counts all that are missing. */
  #isDropping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get isEmpty(): boolean {
    return this.#pending.length === 0;
  }

  get isFull(): boolean {
    return this.#pending.length >= BATCH_ENTRIES || this.#waitingBytes >= BATCH_BYTES;
  }

  /** Answers whether there was room. */
  add(pending: PendingEntry): boolean {
    if (this.#isDropping || !this.#fits(pending)) {
      this.#isDropping = true;
      this.drop([pending], 'too_many_waiting');
      return false;
    }
    this.#push(pending);
    return true;
  }

  /** A critical one is never dropped here; answers false where too many wait for room already. */
  addCritical(pending: PendingEntry): boolean {
    if (this.#blocked.length === 0 && (this.#fits(pending) || this.#bytes === 0)) {
      this.#push(pending);
      return true;
    }
    if (this.#blockedBytes + pending.bytes > this.#maxBytes) return false;
    this.#blocked.push(pending);
    this.#blockedBytes += pending.bytes;
    return true;
  }

  drop(pending: readonly PendingEntry[], reason: string): void {
    this.#dropped.reason = reason;
    for (const { bytes, entry } of pending) {
      // An entry that counts missing ones stands for those.
      const dropped = entry.type === DROPPED_TYPE ? (entry.data as { entries: number; bytes: number }) : undefined;
      this.#dropped.entries += dropped?.entries ?? 1;
      this.#dropped.bytes += dropped?.bytes ?? bytes;
    }
  }

  /** Puts an entry that counts missing ones in their place, once there is room. */
  addDropped(now: number): void {
    const { entries, bytes, reason } = this.#dropped;
    if (entries === 0 || (this.#isDropping && (this.#bytes > this.#maxBytes / 2 || this.#blocked.length > 0))) return;
    this.#isDropping = false;
    this.#dropped = { entries: 0, bytes: 0, reason: '' };
    this.#push(missing(entries, bytes, reason, now));
  }

  take(): Taken {
    let [count, bytes] = [0, 0];
    for (const one of this.#pending) {
      if (count > 0 && (count === BATCH_ENTRIES || bytes + one.bytes > BATCH_BYTES)) break;
      count += 1;
      bytes += one.bytes;
    }
    const pending = this.#pending.splice(0, count);
    this.#waitingBytes -= bytes;
    const entries = pending.map(({ entry }) => ({ sequence: this.#next++, ...entry }));
    const critical = entries
      .filter((_, index) => pending[index]!.critical !== undefined)
      .map(({ sequence }) => sequence);
    return { pending, bytes, entries, critical };
  }

  /** They are safe, or gone. */
  release({ bytes }: Taken): void {
    this.#bytes -= bytes;
    while (this.#blocked.length > 0 && (this.#fits(this.#blocked[0]!) || this.#bytes === 0)) {
      const pending = this.#blocked.shift()!;
      this.#blockedBytes -= pending.bytes;
      this.#push(pending);
    }
  }

  /** They were never stored anywhere, so their numbers are free again. */
  takeBack({ entries }: Taken): void {
    this.#next = entries[0]!.sequence;
  }

  /** Everything that waits, for one who gives up. */
  clear(): PendingEntry[] {
    const all = [...this.#pending, ...this.#blocked];
    this.#pending = [];
    this.#blocked = [];
    this.#bytes -= this.#waitingBytes;
    this.#waitingBytes = 0;
    this.#blockedBytes = 0;
    return all;
  }

  #fits({ bytes }: PendingEntry): boolean {
    return this.#bytes + bytes <= this.#maxBytes;
  }

  #push(pending: PendingEntry): void {
    this.#pending.push(pending);
    this.#bytes += pending.bytes;
    this.#waitingBytes += pending.bytes;
  }
}
