import type { AuditEntry } from './access/audit/audit-entry.ts';
import type { Keys } from './access/keys/keys-port.ts';
import type { Budgets, SpendCall, Spending } from './budgets/budgets-port.ts';
import type { DeadLetters, ListQuery } from './dead-letters/dead-letters-port.ts';
import type { JobRequest } from './enqueue/envelope.ts';
import type { LoggedEvent } from './events/job-event.ts';
import type { RecordEventType } from './events/subject-event.ts';
import type { Explanation } from './explain/explanation.ts';
import type { HealthChecks } from './health/checks-port.ts';
import type { Health } from './health/health-info.ts';
import type { Job, JobState } from './job/job.ts';
import type { Revision } from './job/node-rules.ts';
import type { Outcome } from './job/outcome.ts';
import type { Fence, Progress, Report } from './job/progress.ts';
import type {
  AppendCall,
  Appended,
  FollowedItem,
  FollowJobQuery,
  JournalEntries,
  JournalReadQuery,
} from './journal/journal-port.ts';
import type { Json, JsonObject } from './json.ts';
import type { LimitRule } from './limits/limit.ts';
import type { AskCall, Question, Questions } from './questions/questions-port.ts';
import type { Sinks } from './sinks/sink.ts';
import type { CronRecord, MisfirePolicy, OverlapPolicy } from './store/crons.ts';
import type { EventFilter, EventPage, EventQuery } from './store/event-log.ts';
import type { LimitInfo } from './store/limits.ts';
import type { JobPage, Page } from './store/query.ts';
import type { QueueInfo, QueueKeep, QueueStats } from './store/queues.ts';
import type { PutRecord, RecordPage, RecordQuery, StoredRecord } from './store/records.ts';
import type { InTransaction } from './store/transaction.ts';
import type { WorkerDirective, WorkerInfo } from './store/workers.ts';
import type { TenantLimits } from './tenants/tenant-limits.ts';
import type { Workflows } from './workflow/workflows-port.ts';

/**
 * The port that everything speaks. The embedded engine and the remote clients implement it; servers, workers and the
 * command take it. A call is refused with a WaybillError. `tenant` is the empty string where absent.
 */
export interface Waybill {
  readonly jobs: Jobs;
  readonly deadLetters: DeadLetters;
  readonly queues: Queues;
  readonly limits: Limits;
  readonly tenants: Tenants;
  readonly budgets: Budgets;
  readonly crons: Crons;
  readonly workflows: Workflows;
  readonly workers: Workers;
  /** What runs ask of people and other systems. */
  readonly questions: Questions;
  readonly events: Events;
  /** Whether things get on: beyond `health`, which only asks for signs of life. */
  readonly checks: HealthChecks;
  /** Absent with a server in between: what a kind of record means is known to routes of its own there. */
  readonly records?: Records;
  /** Absent where keys are kept elsewhere. */
  readonly keys?: Keys;
  /** Absent with a server in between, which writes its own. */
  readonly audit?: Audit;
  /** For servers: absent with a server in between. */
  readonly sinks?: Sinks;
  /** Whether the parts that it stands on answer. */
  health(): Promise<Health>;
  /** Ends background work, waits for what is under way and closes the store. Idempotent. */
  close(): Promise<void>;
}

interface InTenant {
  tenant?: string;
}

export interface Jobs {
  /** Durable before it answers, or with the commit of `within`. With a known idempotency key it answers the first job and `created: false`. */
  enqueue(request: JobRequest, context?: EnqueueContext): Promise<{ job: Job; created: boolean }>;
  /** All or nothing. */
  enqueueMany(requests: readonly JobRequest[], context?: EnqueueManyContext): Promise<Job[]>;
  get(id: string, context?: InTenant & Apart): Promise<Job>;
  list(query?: ListQuery & Apart): Promise<JobPage>;
  /** Every reason why the job does not run, or what it came to. Also of one whose row or payload cannot be read. */
  explain(id: string, context?: InTenant): Promise<Explanation>;
  claim(request: ClaimCall): Promise<Lease[]>;
  heartbeat(request: HeartbeatCall): Promise<HeartbeatAnswer>;
  settle(request: SettleCall): Promise<Job>;
  /** Says how far a run is. It proves that the worker lives, so it prolongs the lease as a heartbeat does. */
  report(request: ReportCall): Promise<Progress>;
  /** The newest that was said of a job; null when nothing was. */
  progress(id: string, context?: InTenant): Promise<Progress | null>;
  /**
   * Adds to what the run has used of the budgets that it shares with others, and answers what is left. What was used is used:
   * a budget that it exceeds refuses nothing. Sent again under its number it counts once.
   */
  spend(request: SpendCall): Promise<Spending>;
  /**
   * Adds to what the run says. Durable before it answers; sent again it is stored once. Refused with `lease_lost` when the
   * run is not the one that holds the job, and with `conflict` when the run has come further without these entries.
   */
  append(request: AppendCall): Promise<Appended>;
  /** What the runs of a job have said, oldest first. */
  journal(id: string, query?: JournalReadQuery): Promise<JournalEntries>;
  /**
   * What the runs of a job say: what there is first, then live, without gap or repetition. Ends by itself when the job has
   * ended, unless it is asked to stay, and with the signal.
   */
  follow(id: string, query?: FollowJobQuery): AsyncIterable<FollowedItem>;
  /**
   * A run asks a person or another system, and learns the answer that an earlier run of the job was given. Where there is none yet, the
   * run ends as snoozed, and makes the call again with the same token: then the job sleeps until the answer comes.
   */
  ask(request: AskCall): Promise<Question>;
  /** Ends a job that has not finished; its worker learns of it by the event, or by its next heartbeat. */
  cancel(id: string, context?: InTenant & { by?: string; reason?: string }): Promise<Job>;
  /** Lets a pending job start. */
  activate(id: string, context?: InTenant): Promise<Job>;
  /**
   * Runs a finished job again, however it ended: the same row with a new run, all its attempts, and the last checkpoint.
   * Refused with `conflict` while the job lives, and for nodes of workflows that did not fail.
   */
  retry(id: string, context?: InTenant): Promise<Job>;
  /**
   * Addresses at which the job's args or result over a size can be had for a while, without a key: secrets. Only of a
   * job as `get` or `list` has just answered it, and only where a blob store keeps large payloads and can make addresses.
   */
  urls?(job: Job, bound: { overBytes: number }): Promise<PayloadUrls>;
}

export interface Apart {
  /** Args and results over this size need not come along where `urls` says where they are. @defaultValue all come */
  overBytes?: number;
}

export interface PayloadUrls {
  args?: string;
  result?: string;
}

export interface EnqueueContext extends InTenant, InTransaction {
  idempotencyKey?: string;
}

export interface EnqueueManyContext extends InTenant, InTransaction {
  /**
   * The engine calls it before it answers, with the ids of the jobs that this call made. The answer may have others too,
   * because a unique rule lets a job of before stand for a new one. A client of a server does not call it.
   */
  onCreated?: (ids: ReadonlySet<string>) => void;
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
  /** What the job's parents came to, where it is a node of a workflow that has some. */
  parentResults?: Json[];
  /** What a reviewer asked for, where the job is a further iteration of a node. */
  revision?: LeaseRevision;
  /** What an earlier run left for this one to go on from. */
  checkpoint?: JsonObject;
}

export interface LeaseRevision extends Revision {
  /** The output of the iteration before. */
  previous: Json | null;
}

export interface HeartbeatCall extends InTenant {
  workerId: string;
  /**
   * A new name for each start of the worker. A directive is for the start that it was given to; without a name it is for all
   * that come under the worker's id.
   */
  instance?: string;
  jobs: readonly { id: string; leaseToken?: string; queue?: string }[];
  /**
   * Where tokens are signed: refuse the call with `invalid_request` when a token was not made for its job and queue, and do
   * not answer that job as lost. A worker that holds none of the jobs is not noted. @defaultValue false
   */
  strict?: boolean;
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

export interface SettleCall extends InTenant, InTransaction, Fence {
  id: string;
  outcome: Outcome;
}

/** Whatever is absent stays as it was. */
export interface ReportCall extends InTenant, Fence, Omit<Report, 'number'> {
  id: string;
  /** The run's own count of its reports from 1, so that one sent twice is told once. */
  number?: number;
}

export interface Queues {
  list(context?: InTenant): Promise<QueueInfo[]>;
  /** Refused with `not_found` when nobody ever used the queue. */
  stats(name: string, context?: InTenant): Promise<QueueStats>;
  /** `by` is told in the event. */
  pause(name: string, context?: InTenant & { by?: string }): Promise<QueueInfo>;
  resume(name: string, context?: InTenant & { by?: string }): Promise<QueueInfo>;
  /** For the queue as a whole; null takes the limit away. */
  setLimit(name: string, limit: LimitRule | null, context?: InTenant): Promise<QueueInfo>;
  /** `none`: jobs that complete leave nothing behind. */
  setKeep(name: string, keep: QueueKeep, context?: InTenant): Promise<QueueInfo>;
}

/** Limits by key; a job names its key in `options.rate_limit`. */
export interface Limits {
  get(key: string, context?: InTenant): Promise<LimitInfo>;
  set(key: string, rule: LimitRule, context?: InTenant): Promise<LimitInfo>;
}

/** Tenants as wholes. Only operators list them and set their limits; a tenant may look at its own. */
export interface Tenants {
  /** Those that have jobs, queues or limits, by name. */
  list(query?: { limit?: number; cursor?: string }): Promise<Page<TenantInfo>>;
  /** Refused with `not_found` when the tenant has neither jobs nor queues nor limits. */
  get(tenant: string): Promise<TenantInfo>;
  stats(tenant: string): Promise<TenantStats>;
  /** An absent limit stays as it is, null takes it away. Other servers know of it within a few seconds. */
  setLimits(tenant: string, limits: Partial<TenantLimits>): Promise<TenantInfo>;
}

export interface TenantInfo {
  tenant: string;
  limits: TenantLimits;
}

export interface TenantStats extends TenantInfo {
  /** Counting stops at 10,000 for each state. */
  jobs: Record<JobState, number>;
  /** False where counting has stopped, so that there may be more. */
  exact: boolean;
  queues: number;
  active: number;
  /** Available, scheduled, retryable and pending. */
  waiting: number;
  /** When the job that is next in line became available, in the queue where that is the longest ago. */
  oldestAt: number | null;
}

/** Schedules that make jobs, created, changed, paused and removed at run time. */
export interface Crons {
  /** Creates or replaces by name. The words are those of the HTTP interface: `expression`, `job_template`, .. */
  put(request: CronRequest, context?: InTenant): Promise<CronRecord>;
  get(name: string, context?: InTenant): Promise<CronRecord>;
  list(context?: InTenant): Promise<CronRecord[]>;
  setEnabled(name: string, enabled: boolean, context?: InTenant): Promise<CronRecord>;
  remove(name: string, context?: InTenant): Promise<CronRecord>;
}

export interface CronRequest {
  name: string;
  /** Five fields, or a name like @daily. `cron` means the same. */
  expression?: string;
  /** @defaultValue 'UTC' */
  timezone?: string;
  /** @defaultValue 'skip' */
  overlap_policy?: OverlapPolicy;
  /** @defaultValue 'run_once' */
  misfire_policy?: MisfirePolicy;
  /** Ticks that `catch_up` makes up for at most. @defaultValue 10 */
  catch_up_limit?: number;
  /** @defaultValue true */
  enabled?: boolean;
  description?: string;
  job_template?: JobRequest;
  [unknown: string]: unknown;
}

export interface Workers {
  list(context?: InTenant): Promise<WorkerInfo[]>;
  direct(id: string, directive: WorkerDirective, context?: InTenant): Promise<WorkerInfo>;
}

/** Small documents of any kind, for whatever is administrative: see docs/adr/0006-records-and-locks.md. */
export interface Records {
  get(kind: string, id: string, context?: InTenant): Promise<StoredRecord>;
  /** By id. */
  list(query: InTenant & Omit<RecordQuery, 'tenant'>): Promise<RecordPage>;
  /** Refused with `conflict` when the record has another version than expected; 0: there must be none. */
  put(request: RecordPut, context?: InTenant): Promise<StoredRecord>;
  /** Whatever its version, unless one is expected. */
  remove(kind: string, id: string, context?: InTenant & { expected?: number; fact?: RecordFact }): Promise<void>;
}

export interface RecordPut extends Omit<PutRecord, 'tenant' | 'told'> {
  fact?: RecordFact;
}

/** What the log says of a change of a record; the first word of the type is the record's kind. */
export interface RecordFact {
  type: RecordEventType;
  data?: JsonObject;
}

/** Who did what, as events of the type `audit.recorded`: only principals with `admin` see them in the log. */
export interface Audit {
  /** For servers; not over HTTP. */
  record(entry: AuditEntry, context?: InTenant): Promise<void>;
}

export interface Events {
  read(query?: ReadQuery): Promise<EventPage>;
  end(): Promise<string>;
  /** History behind the cursor first, then live, without gap or repetition, until the signal is aborted. */
  follow(query: FollowQuery): AsyncIterable<LoggedEvent>;
}

/** As in every other call an absent tenant is the empty one. */
export interface ReadQuery extends Omit<EventQuery, 'filter' | 'until' | 'limit'> {
  filter?: Partial<EventFilter>;
  /** 1 to 1,000. @defaultValue 100 */
  limit?: number;
}

export interface FollowQuery {
  after?: string;
  filter?: Partial<EventFilter>;
  signal: AbortSignal;
  /** Events were pruned before they could be read: told before the next one that is still there. May come again. */
  onMissed?(): void;
  /** Told now and then, while the filter lets nothing through, from where the follower could be resumed. */
  onPlace?(cursor: string): void;
}

export type { Keys } from './access/keys/keys-port.ts';
export type * from './budgets/budgets-port.ts';
export type * from './dead-letters/dead-letters-port.ts';
export type { Explanation, Reason, RelatedJob } from './explain/explanation.ts';
export type * from './health/checks-port.ts';
export type {
  AilingSink,
  Health,
  MaintenanceHealth,
  Pulse,
  UnknownType,
  UnknownTypesHealth,
} from './health/health-info.ts';
export type { Fence } from './job/progress.ts';
export type * from './journal/journal-port.ts';
export type * from './questions/questions-port.ts';
export type * from './workflow/workflows-port.ts';
