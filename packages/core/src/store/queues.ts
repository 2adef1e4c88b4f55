import { invalidField } from '../errors.ts';
import type { EventType } from '../events/job-event.ts';
import type { Told } from '../events/subject-event.ts';
import type { LimitRule } from '../limits/limit.ts';

/**
 * `none`: a job that completes leaves nothing behind, neither its row nor events of an ordinary life; those that fail,
 * are cancelled or discarded are kept as ever, and so are nodes of workflows, since others wait for their results. For
 * queues of many small jobs whose history nobody asks for. A settle that is repeated after the row has gone is `lost`.
 */
export const QUEUE_KEEPS = ['all', 'none'] as const;
export type QueueKeep = (typeof QUEUE_KEEPS)[number];

export function checkKeep(keep: QueueKeep): QueueKeep {
  if (QUEUE_KEEPS.includes(keep)) return keep;
  throw invalidField('keep', `must be one of ${QUEUE_KEEPS.join(', ')}.`, { allowed: QUEUE_KEEPS });
}

/** The events of an ordinary life, which a queue that keeps nothing does not write. */
const FORGOTTEN: ReadonlySet<EventType> = new Set([
  'job.enqueued',
  'job.scheduled',
  'job.pending',
  'job.started',
  'job.completed',
]);

export const isForgotten = (type: EventType): boolean => FORGOTTEN.has(type);

/** A queue exists once it was paused, limited or has had a job. */
export interface QueueInfo {
  tenant: string;
  name: string;
  paused: boolean;
  keep: QueueKeep;
  /** What the queue as a whole may have active or start; beside whatever its jobs' own limits say. */
  limit: LimitRule | null;
}

/** Counts stop at a bound; `completed`, `cancelled` and `discarded` are totals since the queue began; one that was removed begins again. */
export interface QueueStats extends QueueInfo {
  available: number;
  parked: number;
  scheduled: number;
  retryable: number;
  pending: number;
  active: number;
  completed: number;
  cancelled: number;
  discarded: number;
  /** When the job that is next in line became available; null when the queue is empty. */
  oldestAt: number | null;
}

/** Each change tells what it is told, in the same transaction, where it changes something. */
export interface QueueStore {
  list(tenant: string): Promise<QueueInfo[]>;
  /** Null when the queue was never heard of. */
  stats(tenant: string, name: string, bound: { atMost: number }): Promise<QueueStats | null>;
  /** A paused queue takes jobs and gives none to claims that begin after this answered; running jobs go on. */
  setPaused(tenant: string, name: string, paused: boolean, told?: Told): Promise<QueueInfo>;
  /** Holds for claims that begin after this answered; null takes the limit away. */
  setLimit(tenant: string, name: string, limit: LimitRule | null, told?: Told): Promise<QueueInfo>;
  /** For what happens after this answered; what is there already stays. */
  setKeep(tenant: string, name: string, keep: QueueKeep, told?: Told): Promise<QueueInfo>;
  /**
   * How many jobs of the tenant may be active at once, in all its queues together; null: any number. Holds for claims that
   * begin after this answered, beside the limits of the queue and of the job's key. It never goes by itself.
   */
  setTenantLimit(tenant: string, concurrency: number | null): Promise<void>;
  /**
   * The names of tenants that have queues, in order, from behind `after` on. Whether a queue counts that was only set up, and
   * never had a job, is left to the store.
   */
  tenants(query: TenantQuery): Promise<string[]>;
}

export interface TenantQuery {
  /** Null: from the first one. */
  after: string | null;
  limit: number;
}
