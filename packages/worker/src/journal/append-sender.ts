import { type Clock, DROPPED_TYPE, type Jobs, type NewEntry, WaybillError } from '@waybill/core';
import { backoffMs, codeOf, mayRepeat, within } from '../patience.ts';
import type { DropReason } from './journal-counts.ts';

/** How long one call may take before it is made again. */
const ANSWERED_WITHIN_MS = 10_000;

/** The run that entries are for, and its lease. */
export interface AppendTarget {
  tenant: string;
  id: string;
  leaseToken: string;
}

export interface Refused {
  entry: NewEntry;
  error: unknown;
}

export interface Sent {
  /** Entries that no server takes, such as too large ones; each is replaced by one that reports it. */
  refused: Refused[];
  /** Entries that the server did not keep, because the journal of the job has its full size. */
  cut: number;
}

/** Thrown when the sender is stopped before the server has answered. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
}

/** What it means for a run that the server takes none of its entries. */
export function refusalOf(error: unknown): Extract<DropReason, 'lease_lost' | 'refused'> {
  const code = codeOf(error);
  return code === 'lease_lost' || code === 'not_found' ? 'lease_lost' : 'refused';
}

const OF_ONE_ENTRY = new Set(['payload_too_large', 'invalid_request', 'invalid_payload', 'validation_error']);

/** Sends entries of one run, the same ones under the same sequences until the server has answered. */
export class AppendSender {
  readonly #jobs: Pick<Jobs, 'append'>;
  readonly #clock: Clock;
  readonly #target: AppendTarget;
  readonly #stop: AbortSignal;
  /** Why the newest call failed. */
  lastError: unknown;

  constructor(parts: { jobs: Pick<Jobs, 'append'>; clock: Clock }, target: AppendTarget, stop: AbortSignal) {
    this.#jobs = parts.jobs;
    this.#clock = parts.clock;
    this.#target = target;
    this.#stop = stop;
  }

  /** Throws `NotSent` when stopped, and the error of the server when it takes none of them. */
  async send(entries: readonly NewEntry[]): Promise<Sent> {
    try {
      return { refused: [], cut: await this.#append(entries) };
    } catch (error) {
      if (!OF_ONE_ENTRY.has(codeOf(error) ?? '')) throw error;
      return entries.length === 1 ? await this.#sendInstead(entries[0]!, error) : await this.#sendEach(entries);
    }
  }

  async #sendEach(entries: readonly NewEntry[]): Promise<Sent> {
    const all: Sent = { refused: [], cut: 0 };
    for (const entry of entries) {
      const { refused, cut } = await this.send([entry]);
      all.refused.push(...refused);
      all.cut += cut;
    }
    return all;
  }

  /** In its place, so that no sequence is missing. */
  async #sendInstead(entry: NewEntry, error: unknown): Promise<Sent> {
    if (entry.type === DROPPED_TYPE) throw error;
    const { sequence, at, type } = entry;
    const data = { entries: 1, type, reason: codeOf(error) ?? 'refused' };
    const cut = await this.#append([{ sequence, ...(at !== undefined && { at }), type: DROPPED_TYPE, data }]);
    return { refused: [{ entry, error }], cut };
  }

  async #append(entries: readonly NewEntry[]): Promise<number> {
    if (typeof this.#jobs.append !== 'function')
      throw new WaybillError('unsupported', 'What this worker was given as jobs keeps no journal.');
    for (let failures = 1; ; failures += 1) {
      if (this.#stop.aborted) throw new NotSent('The sender was stopped.');
      try {
        const call = this.#jobs.append({ ...this.#target, entries });
        const { cut } = await within(ANSWERED_WITHIN_MS, this.#clock, call, this.#stop);
        return cut;
      } catch (error) {
        if (this.#stop.aborted) throw new NotSent('The sender was stopped.');
        this.lastError = error;
        if (!mayRepeat(error)) throw error;
        await this.#clock.sleep(backoffMs(failures), this.#stop);
      }
    }
  }
}
