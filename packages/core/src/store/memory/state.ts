import type { JobEvent } from '../../events/job-event.ts';
import type { Job } from '../../job/job.ts';
import type { Edge } from '../insert.ts';
import type { QueueInfo } from '../queues.ts';
import type { WakeListener } from '../store.ts';
import type { WorkerInfo } from '../workers.ts';

/** Two texts as one map key; JSON, since neither text can then pretend to be part of the other. */
export const keyOf = (tenant: string, name: string): string => JSON.stringify([tenant, name]);

/** Everything the model knows. Verbs read and write it directly: each runs to its end before the next begins. */
export class MemoryState {
  readonly jobs = new Map<string, Job>();
  /** In commit order; positions are never used again, so a cursor survives pruning. */
  log: { position: number; event: JobEvent }[] = [];
  edges: (Edge & { tenant: string })[] = [];
  /** Concurrency per key. Holders are counted from the rows, so they cannot disagree with them. */
  readonly limits = new Map<string, number>();
  readonly queues = new Map<string, QueueInfo>();
  readonly workers = new Map<string, WorkerInfo>();
  readonly listeners = new Set<WakeListener>();
  lastPosition = 0;
  #woken = new Set<string>();

  get(tenant: string, id: string): Job | undefined {
    return this.jobs.get(keyOf(tenant, id));
  }

  rows(): Job[] {
    return [...this.jobs.values()];
  }

  /** The one way in which a row changes: with its events, and noting what became claimable. */
  write(job: Job, events: readonly JobEvent[] = []): void {
    const before = this.get(job.tenant, job.id);
    this.jobs.set(keyOf(job.tenant, job.id), job);
    for (const event of events) {
      this.lastPosition += 1;
      this.log.push({ position: this.lastPosition, event });
    }
    const becameClaimable = job.rank !== null && (before?.rank ?? null) === null;
    if (becameClaimable && !this.isPaused(job.tenant, job.queue)) this.#woken.add(job.queue);
  }

  isPaused(tenant: string, queue: string): boolean {
    return this.queues.get(keyOf(tenant, queue))?.paused ?? false;
  }

  noteWake(queue: string): void {
    this.#woken.add(queue);
  }

  /** After the change, so that a listener that claims at once finds the jobs. */
  tellWoken(): void {
    if (this.#woken.size === 0) return;
    const queues = [...this.#woken];
    this.#woken = new Set();
    for (const listener of [...this.listeners]) listener(queues);
  }
}
