import { type Clock, type Jobs, type Lease, type Logger, WaybillError } from '@waybill/core';
import { AppendSender, NotSent, refusalOf, type Sent } from './append-sender.ts';
import { type Batch, type Delivery, DirectDelivery, NotKept } from './delivery.ts';
import { EntryLosses } from './entry-losses.ts';
import type { DropReason, JournalCounts } from './journal-counts.ts';
import type { ResolvedJournal } from './journal-options.ts';
import type { Outbox } from './outbox/outbox.ts';
import { OutboxDelivery } from './outbox/outbox-delivery.ts';
import type { PendingEntry } from './pending-entry.ts';
import { type Taken, Waiting } from './waiting.ts';

/** How long an entry waits for others to travel with. */
export const BATCH_MS = 200;

export interface RunJournalParts {
  jobs: Pick<Jobs, 'append'>;
  clock: Clock;
  logger: Logger;
  counts: JournalCounts;
  settings: ResolvedJournal;
  outbox: Outbox | undefined;
  /** Aborted when a stopping worker waits no longer. */
  giveUp: AbortSignal | undefined;
  /** What the server's clock shows. */
  now(): number;
  onLeaseLost(): void;
}

/** Sends the entries of one run to the server, in batches. Made with the first entry, because most runs have none. */
export class RunJournal {
  readonly #parts: RunJournalParts;
  readonly #waiting: Waiting;
  readonly #losses: EntryLosses;
  readonly #sender: AppendSender;
  readonly #delivery: Delivery;
  readonly #stop = new AbortController();
  #isPumping = false;
  #pumped: Promise<void> = Promise.resolve();
  #timer: AbortController | undefined;
  #isUrgent = false;
  #isEnding = false;
  /** Nothing is stored any more, and why. */
  #closed: { error: unknown; reason: DropReason } | undefined;
  #isDiskBad = false;

  constructor(lease: Lease, parts: RunJournalParts) {
    this.#parts = parts;
    this.#losses = new EntryLosses(lease, parts);
    this.#waiting = new Waiting(parts.settings.maxWaitingBytes);
    const { job, token } = lease;
    const target = { tenant: job.tenant, id: job.id, leaseToken: token };
    this.#sender = new AppendSender(parts, target, this.#stop.signal);
    const events = {
      onStored: (sent: Sent, batch: Batch) => this.#losses.stored(sent, batch),
      onRefused: (error: unknown) => this.#refused(error),
    };
    this.#delivery = parts.outbox
      ? new OutboxDelivery(this.#sender, events, () => parts.outbox!.open({ ...target, run: job.run }))
      : new DirectDelivery(this.#sender, events);
  }

  /** Best effort: never waits, never fails. */
  add(pending: readonly PendingEntry[]): void {
    for (const one of pending) {
      if (this.#closed) this.#losses.lose([one], this.#closed.error, this.#closed.reason);
      else if (!this.#waiting.add(one))
        this.#losses.lose([one], new WaybillError('resource_exhausted', this.#tooMany()), 'memory');
    }
    this.#wake();
  }

  /** Resolves when it is safe: stored, or durable in the outbox. A failure is also kept until the end, because the handler need not wait for it. */
  addCritical(pending: PendingEntry, waitMs: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Whether or not the handler awaits it, the run fails at its end; the process must not.
    promise.catch(() => {});
    if (this.#closed) {
      this.#losses.loseCritical(this.#closed.error);
      reject(this.#losses.failure(this.#closed.error));
      return promise;
    }
    const over = new AbortController();
    const critical = {
      resolve: () => {
        over.abort('over');
        resolve();
      },
      reject: (error: unknown) => {
        over.abort('over');
        reject(this.#losses.failure(error));
      },
    };
    if (!this.#waiting.addCritical({ ...pending, critical })) {
      this.#losses.loseCritical(new WaybillError('resource_exhausted', this.#tooMany()));
      reject(this.#losses.missing);
      return promise;
    }
    void this.#parts.clock.sleep(waitMs, over.signal).then(() => {
      if (!over.signal.aborted) reject(this.#losses.failure(this.#sender.lastError ?? late(waitMs)));
    });
    this.#isUrgent = true;
    this.#wake();
    return promise;
  }

  /** Resolves when all entries so far are stored, or with the error of a critical one that is not. Best effort is given up after `ms`. */
  flush(ms: number): Promise<WaybillError | null> {
    return this.#flush(ms, false);
  }

  async #flush(ms: number, isLast: boolean): Promise<WaybillError | null> {
    const { clock, giveUp } = this.#parts;
    const over = new AbortController();
    const stop = () => this.#stop.abort('late');
    void clock.sleep(ms, over.signal).then(() => {
      if (!over.signal.aborted) stop();
    });
    giveUp?.addEventListener('abort', stop, { once: true });
    if (giveUp?.aborted || ms <= 0) stop();
    this.#isEnding = true;
    this.#wake();
    while (this.#isPumping) await this.#pumped;
    await this.#delivery.drained();
    if (isLast) await this.#sendDropped();
    this.#isEnding = false;
    giveUp?.removeEventListener('abort', stop);
    over.abort('over');
    // In the outbox a critical entry is safe, but a run that ends before the server has it would make it be refused.
    if (this.#delivery.unsent.critical > 0) this.#losses.loseCritical(this.#whyUnsent(ms));
    return this.#losses.missing;
  }

  /** The last flush. `isLost`: the run is not ours any more, so there is nothing to wait for. */
  async end(ms: number, isLost: boolean): Promise<WaybillError | null> {
    this.#losses.isLeaseLost ||= isLost;
    if (this.#losses.isLeaseLost) this.#stop.abort('lost');
    const missing = await this.#flush(ms, true);
    const { entries } = this.#delivery.unsent;
    await this.#delivery.close(this.#losses.isLeaseLost);
    // The outbox counts them when they are lost: those that it keeps may still be sent.
    if (entries > 0) this.#losses.warn(entries, this.#whyUnsent(ms));
    this.#losses.end();
    return missing;
  }

  #whyUnsent(ms: number): unknown {
    return this.#closed?.error ?? this.#sender.lastError ?? late(ms);
  }

  #wake(): void {
    if (this.#isUrgent || this.#isEnding || this.#waiting.isFull) this.#timer?.abort('full');
    if (this.#isPumping) return;
    this.#isPumping = true;
    this.#pumped = this.#pump()
      .catch((error: unknown) => {
        this.#closed ??= { error, reason: 'given_up' };
        this.#losses.lose(this.#waiting.clear(), error, this.#closed.reason);
      })
      .finally(() => this.#rested());
  }

  /** The handler may have pending between the last look and now. */
  #rested(): void {
    this.#isPumping = false;
    if (!this.#waiting.isEmpty && !this.#closed) this.#wake();
  }

  async #pump(): Promise<void> {
    const { clock, now } = this.#parts;
    for (;;) {
      // With a bad disk it would fail like the others: it waits for company.
      if (!this.#isDiskBad || !this.#waiting.isEmpty) this.#waiting.addDropped(now());
      // The refusal may have come while the last batch was being written.
      if (this.#closed) this.#losses.lose(this.#waiting.clear(), this.#closed.error, this.#closed.reason);
      if (this.#waiting.isEmpty) break;
      if (!this.#isUrgent && !this.#isEnding && !this.#waiting.isFull) {
        this.#timer = new AbortController();
        await clock.sleep(BATCH_MS, this.#timer.signal);
        this.#timer = undefined;
      }
      await this.#put(this.#waiting.take());
      this.#isUrgent &&= !this.#waiting.isEmpty;
    }
  }

  async #put(taken: Taken): Promise<void> {
    try {
      await this.#delivery.put(taken);
      this.#isDiskBad = false;
      for (const { critical } of taken.pending) critical?.resolve();
    } catch (error) {
      if (error instanceof NotKept) this.#notKept(taken, error);
      else if (error instanceof NotSent) this.#giveUp(taken, error);
      else throw error;
    } finally {
      this.#waiting.release(taken);
    }
  }

  /** The disk is full, or worse. The next batch may find room again. */
  #notKept(taken: Taken, error: NotKept): void {
    this.#isDiskBad = true;
    this.#waiting.takeBack(taken);
    this.#waiting.drop(taken.pending, 'outbox_failed');
    this.#losses.lose(taken.pending, error, 'outbox');
  }

  /** At the end of the run, past a bad disk: reports the entries that the disk did not take once the server has all others. */
  async #sendDropped(): Promise<void> {
    if (!this.#isDiskBad || this.#closed || this.#delivery.unsent.entries > 0) return;
    this.#waiting.addDropped(this.#parts.now());
    if (this.#waiting.isEmpty) return;
    const taken = this.#waiting.take();
    try {
      this.#losses.stored(await this.#sender.send(taken.entries), taken);
    } catch (error) {
      if (error instanceof NotSent) this.#giveUp(taken, error);
      else this.#refused(error);
    }
    this.#waiting.release(taken);
  }

  /** The sender was stopped, or the server refused the entries: neither for these nor for those behind them. */
  #giveUp({ pending }: Taken, reason: NotSent): void {
    this.#closed ??= {
      error: this.#sender.lastError ?? reason,
      reason: this.#losses.isLeaseLost ? 'lease_lost' : 'given_up',
    };
    this.#losses.lose([...pending, ...this.#waiting.clear()], this.#closed.error, this.#closed.reason);
  }

  #refused(error: unknown): void {
    const reason = refusalOf(error);
    this.#closed ??= { error, reason };
    if (reason !== 'lease_lost') return;
    this.#losses.isLeaseLost = true;
    this.#stop.abort('lost');
    this.#parts.onLeaseLost();
  }

  #tooMany(): string {
    return `More than ${this.#parts.settings.maxWaitingBytes} bytes of a run wait to be stored.`;
  }
}

const late = (ms: number): WaybillError =>
  new WaybillError('timeout', `It was not stored within ${Math.round(ms)} ms.`);
