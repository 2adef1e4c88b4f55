import type { JobRequest } from './enqueue/envelope.ts';
import type { LoggedEvent } from './events/job-event.ts';
import type { Job } from './job/job.ts';
import type { Outcome } from './job/outcome.ts';
import type { EventFilter, EventPage, EventQuery } from './store/event-log.ts';
import type { JobFilter, JobQuery, Page } from './store/query.ts';
import type { QueueInfo } from './store/queues.ts';
import type { WorkerDirective, WorkerInfo } from './store/workers.ts';

/**
 * The port that everything speaks. The embedded engine and the remote clients implement it; servers, workers and the
 * command take it. A call is refused with a WaybillError. `tenant` is the empty string where absent.
 */
export interface Waybill {
  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly queues: Queues;
  readonly workers: Workers;
  readonly events: Events;
  health(): Promise<Health>;
  /** Ends background work, waits for what is under way and closes the store. Idempotent. */
  close(): Promise<void>;
}

interface InTenant {
  tenant?: string;
}

export interface Jobs {
  /** Durable before it answers. With a known idempotency key it answers the first job and `created: false`. */
  enqueue(request: JobRequest, context?: EnqueueContext): Promise<{ job: Job; created: boolean }>;
  /** All or nothing. */
  enqueueMany(requests: readonly JobRequest[], context?: InTenant): Promise<Job[]>;
  get(id: string, context?: InTenant): Promise<Job>;
  list(query: Omit<JobQuery, 'filter'> & { filter?: Partial<JobFilter> }): Promise<Page<Job>>;
  claim(request: ClaimCall): Promise<Lease[]>;
  heartbeat(request: HeartbeatCall): Promise<HeartbeatAnswer>;
  settle(request: SettleCall): Promise<Job>;
  /** Ends a job that has not finished; its worker learns of it by its next heartbeat. */
  cancel(id: string, context?: InTenant & { by?: string; reason?: string }): Promise<Job>;
  /** Lets a pending job start. */
  activate(id: string, context?: InTenant): Promise<Job>;
}

export interface EnqueueContext extends InTenant {
  idempotencyKey?: string;
}

export interface ClaimCall extends InTenant {
  /** In order: a job of an earlier queue always goes first. */
  queues: readonly string[];
  /** @defaultValue 1 */
  count?: number;
  /** @defaultValue a new name for this call */
  workerId?: string;
  /** Lease length for jobs without a `visibility_timeout_ms` of their own. @defaultValue 300_000 */
  leaseMs?: number;
  /** Repeat a call under the same id and it answers the same jobs. @defaultValue a new id */
  claimId?: string;
  /** Wait this long for a first job. @defaultValue 0 */
  waitMs?: number;
  signal?: AbortSignal;
}

/** A worker's exclusive right to one run. The token is opaque; whoever settles shows it. */
export interface Lease {
  token: string;
  job: Job;
}

/** Who speaks for a run. The token is exact; a worker's name is nearly so; with neither only the state is checked. */
export interface Fence {
  leaseToken?: string;
  workerId?: string;
}

export interface HeartbeatCall extends InTenant {
  workerId: string;
  jobs: readonly { id: string; leaseToken?: string }[];
  /** @defaultValue the length granted at the claim */
  leaseMs?: number;
}

export interface HeartbeatAnswer {
  directive: WorkerDirective;
  extended: { id: string; leaseUntil: number }[];
  /** Jobs that this worker holds no more: cancelled, timed out, or claimed by another. */
  lost: string[];
  now: number;
}

export interface SettleCall extends InTenant, Fence {
  id: string;
  outcome: Outcome;
}

export interface DeadLetters {
  list(query: Omit<JobQuery, 'filter'> & { filter?: Partial<JobFilter> }): Promise<Page<Job>>;
  get(id: string, context?: InTenant): Promise<Job>;
  replay(id: string, context?: InTenant): Promise<Job>;
  /** Replays what matches, in slices; goes on where it stopped when called again. */
  replayMany(filter: Partial<JobFilter>, bound?: { atMost?: number }): Promise<{ replayed: number; more: boolean }>;
  /** Takes the job out of the dead-letter set; its row stays until retention removes it. */
  discard(id: string, context?: InTenant): Promise<Job>;
  discardMany(filter: Partial<JobFilter>, bound?: { atMost?: number }): Promise<{ discarded: number; more: boolean }>;
  stats(context?: InTenant): Promise<{ total: number; exact: boolean }>;
}

export interface Queues {
  list(context?: InTenant): Promise<QueueInfo[]>;
  pause(name: string, context?: InTenant): Promise<QueueInfo>;
  resume(name: string, context?: InTenant): Promise<QueueInfo>;
}

export interface Workers {
  list(context?: InTenant): Promise<WorkerInfo[]>;
  direct(id: string, directive: WorkerDirective, context?: InTenant): Promise<WorkerInfo>;
}

export interface Events {
  read(query: EventQuery): Promise<EventPage>;
  end(): Promise<string>;
  /** History behind the cursor first, then live, without gap or repetition, until the signal is aborted. */
  follow(query: { after?: string; filter?: EventFilter; signal: AbortSignal }): AsyncIterable<LoggedEvent>;
}

export interface Health {
  status: 'ok' | 'degraded';
  store: { name: string; status: 'ok' | 'unhealthy'; latencyMs: number };
}
