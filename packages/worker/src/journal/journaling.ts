import type { Clock, Jobs, Lease, Logger } from '@waybill/core';
import { type RunControl, serverNow } from '../execute/run-control.ts';
import type { AnyTask } from '../task.ts';
import type { DropReason, JournalCounts } from './journal-counts.ts';
import { type JournalPolicy, type ResolvedJournal, resolveJournal } from './journal-options.ts';
import { Outbox } from './outbox/outbox.ts';
import type { OpenFile } from './outbox/wal-io.ts';
import { RunJournal } from './run-journal.ts';

export interface JournalingParts extends JournalPolicy {
  jobs: Pick<Jobs, 'append'>;
  clock: Clock;
  logger: Logger;
  tasks: ReadonlyMap<string, AnyTask>;
  leaseMs: number;
  giveUp?: AbortSignal;
  openFile?: OpenFile;
  /** Tasks that name an outbox run without one. @defaultValue false */
  withoutOutbox?: boolean;
  /** A run is not ours any more. */
  onLeaseLost(run: RunControl): void;
  /** Entries of runs are not stored, and why. */
  onDropped?: ((entries: number, reason: DropReason) => void) | undefined;
}

/** What the journals of all runs of a worker share. */
export class Journaling {
  readonly counts: JournalCounts;
  readonly #parts: JournalingParts;
  readonly #settings = new Map<AnyTask, ResolvedJournal>();
  readonly #outboxes = new Map<string, Outbox>();

  constructor(parts: JournalingParts) {
    this.#parts = parts;
    this.counts = { stored: 0, dropped: 0, ...(parts.onDropped && { onDropped: parts.onDropped }) };
    for (const task of parts.tasks.values()) {
      const { outbox, isOn } = this.settingsOf(task);
      if (outbox === null || !isOn || this.#outboxes.has(outbox)) continue;
      this.#outboxes.set(outbox, new Outbox(outbox, { ...parts, counts: this.counts }));
    }
  }

  settingsOf(task: AnyTask): ResolvedJournal {
    const known = this.#settings.get(task);
    if (known) return known;
    const resolved = resolveJournal(task, this.#parts);
    const settings = this.#parts.withoutOutbox ? { ...resolved, outbox: null } : resolved;
    this.#settings.set(task, settings);
    return settings;
  }

  /** How long the run waits for something to be stored. */
  flushMs({ job }: Lease, task: AnyTask): number {
    return this.settingsOf(task).flushMs ?? job.leaseMs ?? this.#parts.leaseMs;
  }

  open(lease: Lease, control: RunControl, task: AnyTask): RunJournal {
    const settings = this.settingsOf(task);
    const { jobs, clock, logger, giveUp, onLeaseLost } = this.#parts;
    return new RunJournal(lease, {
      ...{ jobs, clock, logger, giveUp, settings, counts: this.counts },
      outbox: settings.outbox === null ? undefined : this.#outboxes.get(settings.outbox),
      now: () => serverNow(lease, control, clock),
      onLeaseLost: () => onLeaseLost(control),
    });
  }

  start(): void {
    for (const outbox of this.#outboxes.values()) outbox.start();
  }

  async end(): Promise<void> {
    await Promise.all([...this.#outboxes.values()].map((outbox) => outbox.end()));
  }
}
