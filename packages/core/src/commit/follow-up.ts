import { isToAdvance, type Job } from '../job/job.ts';
import type { Logger } from '../logger.ts';
import type { EngineObserver } from '../observer.ts';
import type { Change } from '../store/apply.ts';
import { hintsFor } from '../transport/hint.ts';
import type { Transport } from '../transport/transport.ts';

export interface FollowUpParts {
  transport: Transport;
  logger: Logger;
  /** Wakes the sweep at the latest by then. */
  expect(nextAt: number | null): void;
  /** Looks at the dependents of a finished node. */
  advance(job: Job): Promise<void>;
  /** Hints again at jobs that no worker has claimed in time. */
  remind(jobs: readonly Job[]): Promise<void>;
  /** Hints again at all jobs of a queue that may give more of them now. */
  remindQueue(tenant: string, queue: string): Promise<void>;
  /** Forgets that workers did not know these jobs, where they have gone on since. */
  noteWritten(jobs: readonly Job[]): void;
  /** Tells the readers of the log in this process that there is more to read. */
  notifyReaders(): void;
  /** Told for metrics. */
  observer?: EngineObserver | undefined;
}

/**
 * What follows every write: the sweep is woken in time, workflows go on, hints are sent, operators hear of dead
 * jobs, readers of the log are notified. All of it may be lost with this process: the rows carry what brings it back.
 */
export class FollowUp {
  readonly #parts: FollowUpParts;
  readonly isHinted: boolean;

  constructor(parts: FollowUpParts) {
    this.#parts = parts;
    this.isHinted = parts.transport.capabilities.delivers === 'hints';
  }

  /** Rows that were made, and rows that this has admitted. */
  made(jobs: readonly Job[], admitted: readonly Job[]): void {
    if (jobs.length > 0) this.#parts.observer?.inserted?.(jobs);
    this.rows(admitted.length === 0 ? jobs : [...jobs, ...admitted]);
  }

  /** Rows that were made or changed. */
  rows(jobs: readonly Job[]): void {
    if (jobs.length === 0) return;
    this.#watch(jobs);
    this.#parts.noteWritten(jobs);
    this.hint(jobs);
    this.#parts.notifyReaders();
  }

  /** Rows that a claim made active. */
  claimed(jobs: readonly Job[]): void {
    if (jobs.length === 0) return;
    this.#watch(jobs);
    this.#parts.observer?.claimed?.(jobs);
    this.#parts.notifyReaders();
  }

  /** Changes that were written just now. */
  changes(written: readonly Change[], admitted: readonly Job[]): void {
    this.rows([...written.map(({ job }) => job), ...admitted]);
    this.#parts.observer?.changed?.(written);
    if (!this.isHinted) return;
    const dead = written.filter(tellsOfDeath).map(({ job }) => job);
    if (dead.length > 0) this.#tellDead(dead);
  }

  /** Rows that no worker has claimed in time, and that go on waiting. */
  unclaimed(jobs: readonly Job[]): void {
    for (const job of jobs) this.#parts.expect(job.nextAt);
    if (jobs.length > 0) void this.#parts.remind(jobs);
  }

  /** Rows that are only looked at again later. */
  putOff(jobs: readonly Job[]): void {
    for (const job of jobs) this.#parts.expect(job.nextAt);
    if (jobs.length > 0) this.#parts.notifyReaders();
  }

  /** A queue goes on: the hints that came meanwhile were dropped. */
  opened(tenant: string, queue: string): void {
    if (this.isHinted) void this.#parts.remindQueue(tenant, queue);
  }

  /** The log tells more, and no row of a job has changed. */
  reported(): void {
    this.#parts.notifyReaders();
  }

  /** A lost hint costs latency only, so no caller waits for it, and a failure goes to the log. */
  hint(jobs: readonly Job[]): void {
    if (!this.isHinted || jobs.every(({ rank }) => rank === null)) return;
    const { transport, logger } = this.#parts;
    transport
      .send(hintsFor(jobs))
      .catch((error: unknown) => logger.warn({ err: error }, 'Hints could not be sent. The sweep sends them again.'));
  }

  #watch(jobs: readonly Job[]): void {
    const { advance, expect } = this.#parts;
    for (const job of jobs) {
      if (isToAdvance(job)) void advance(job);
      else expect(job.nextAt);
    }
  }

  #tellDead(jobs: readonly Job[]): void {
    const { transport, logger } = this.#parts;
    transport
      .tellDead?.(jobs)
      .catch((error: unknown) =>
        logger.warn({ err: error }, 'Could not publish dead-letter notifications. The jobs are safe in the store.'),
      );
  }
}

const tellsOfDeath = ({ events }: Change): boolean => events.some(({ type }) => type === 'job.discarded');
