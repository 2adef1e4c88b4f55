import { DROPPED_TYPE, isProcessType, type Lease, type Logger, WaybillError } from '@waybill/core';
import { codeOf } from '../patience.ts';
import type { Sent } from './append-sender.ts';
import type { Batch } from './delivery.ts';
import { countDropped, type DropReason, type JournalCounts } from './journal-counts.ts';
import type { PendingEntry } from './pending-entry.ts';

interface EntryLossesParts {
  logger: Logger;
  counts: JournalCounts;
}

/** Which entries of one run are not stored: counts them, warns once, and keeps why a critical one is missing. */
export class EntryLosses {
  readonly #job: Lease['job'];
  readonly #parts: EntryLossesParts;
  #criticalError: { error: unknown } | undefined;
  #lost = 0;
  #hasWarned = false;
  isLeaseLost = false;

  constructor({ job }: Lease, parts: EntryLossesParts) {
    this.#job = job;
    this.#parts = parts;
  }

  /** Why a critical entry is not stored; null where none is missing. */
  get missing(): WaybillError | null {
    return this.#criticalError ? this.failure(this.#criticalError.error) : null;
  }

  /** The first reason is the one that the run fails with. */
  loseCritical(error: unknown): void {
    this.#criticalError ??= { error };
  }

  lose(pending: readonly PendingEntry[], error: unknown, reason: DropReason): void {
    for (const { critical } of pending) {
      if (!critical) continue;
      this.loseCritical(error);
      critical.reject(error);
    }
    // The logger has these lines already. Where there is no journal to keep copies, none is lost.
    const isNothing = codeOf(error) === 'unsupported' && pending.every(({ entry }) => entry.type === 'log');
    const count = pending.filter(({ entry }) => entry.type !== DROPPED_TYPE).length;
    if (count === 0 || isNothing) return;
    countDropped(this.#parts.counts, count, reason);
    this.warn(count, error);
  }

  /** The server has answered for a batch, and may have kept only some of it. */
  stored({ refused, cut }: Sent, { entries, critical }: Batch): void {
    const { counts } = this.#parts;
    counts.stored += entries.length - refused.length - cut;
    if (refused.length + cut === 0) return;
    const [first] = refused;
    const error = first?.error ?? new WaybillError('resource_exhausted', 'The journal of the job has its full size.');
    const isMissing = ({ sequence, type }: Batch['entries'][number]): boolean =>
      critical.includes(sequence) &&
      (refused.some(({ entry }) => entry.sequence === sequence) || (cut > 0 && !isProcessType(type)));
    if (entries.some(isMissing)) this.loseCritical(error);
    countDropped(counts, refused.length, 'refused');
    countDropped(counts, cut, 'cut');
    this.warn(refused.length + cut, error);
  }

  warn(entries: number, error: unknown): void {
    this.#lost += entries;
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    // The worker itself reports a lost lease.
    const level = this.isLeaseLost ? 'debug' : 'warn';
    this.#parts.logger[level](
      { ...this.#fields, dropped: entries, err: error },
      `Entries of task '${this.#job.type}' were not stored.`,
    );
  }

  /** The run is over. */
  end(): void {
    if (this.#lost === 0) return;
    const fields = { ...this.#fields, dropped: this.#lost };
    this.#parts.logger.info(fields, 'A run has ended, and not all of its entries were stored.');
  }

  failure(cause: unknown): WaybillError {
    const reason = cause instanceof Error ? cause.message : String(cause);
    const message = `Could not store a critical entry of task '${this.#job.type}': ${reason}`;
    return new WaybillError('unavailable', message, { cause });
  }

  get #fields(): { task: string; job: string; run: number } {
    const { type, id, run } = this.#job;
    return { task: type, job: id, run };
  }
}
