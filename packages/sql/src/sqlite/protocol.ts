import type {
  AppendAnswer,
  ClaimByIdRequest,
  ClaimRequest,
  CronRecord,
  DueAnswer,
  DueQuery,
  Edge,
  EnableRequest,
  EventPage,
  EventQuery,
  ExtendAnswer,
  ExtendRequest,
  Family,
  FireRequest,
  InsertGroup,
  JobFilter,
  JobKey,
  JobQuery,
  JournalQuery,
  LimitInfo,
  LimitRule,
  LockTable,
  MoveRequest,
  OpeningQuery,
  Page,
  ParentResult,
  Progress,
  PruneAnswer,
  PruneRequest,
  QueueInfo,
  QueueKeep,
  QueueStats,
  RecordKey,
  RecordRow,
  RemoveAnswer,
  ReportAnswer,
  ReportRequest,
  RowPage,
  RowPut,
  RowPutAnswer,
  RowQuery,
  RunFence,
  TakeAnswer,
  TenantQuery,
  Told,
  UniqueClaim,
  WorkerBeat,
  WorkerDirective,
  WorkerInfo,
  WorkflowRecord,
  WorkflowStore,
} from '@waybill/core';
import type { Failure } from './failures.ts';
import type { Cell, MutableCells, Row } from './rows.ts';

/** Events travel encoded (event-codec.ts), rows as arrays (rows.ts): the receiver binds or stores them as they are. */
export interface GroupMessage {
  rows: Row[];
  events: string[];
  edges: readonly Edge[];
  /** What the jobs bring along, in their order; absent where none does, since most groups are plain. */
  rules?: (LimitRule | null)[];
  uniques?: (UniqueMessage | null)[];
  workflow?: NonNullable<InsertGroup['workflow']>;
}

export interface UniqueMessage extends Omit<UniqueClaim, 'replace'> {
  replace: ChangeMessage | null;
}

export type InsertReply =
  /** `admitted`: which of the group's jobs got a slot of their limit. */
  /** Which of the rows got a slot, and rows of others that did. */
  | { status: 'inserted'; admitted: number[]; others: Row[] }
  | { status: 'exists' | 'repeated'; index: number; row: Row }
  | { status: 'taken'; keys: { index: number; row: Row }[] }
  | { status: 'named'; index: number }
  | { status: 'closed' };

export interface ChangeMessage {
  tenant: string;
  id: string;
  by: 'lease' | 'version';
  /** Run and claim id, or version, next_at and holds_slot. */
  fence: [number, string] | [number, number | null, number];
  cells: MutableCells;
  events: string[];
  slot: 'release' | 'request' | null;
  limitKey: string | null;
  /** For a limit that was removed. */
  limit?: LimitRule;
  /** The unique key that must still belong to the job. */
  ownedKey?: string;
}

/**
 * The common end of a run, of a job without a limit. Flat, and without what an end leaves as it is: names of fields and
 * nested lists would be most of what is sent. The cells are in the order of finish-by-lease.
 */
export type EndMessage = [
  tenant: string,
  id: string,
  queue: string,
  run: number,
  claimId: string,
  event: string,
  state: string,
  ...rest: Cell[],
];

export type ApplyReply = 'applied' | 'repeated' | 'lost' | { admitted: Row[] };

export type ClaimByIdReply = Row | 'not_due' | 'parked' | 'paused' | 'held' | 'finished' | 'elsewhere' | 'unknown';

interface Named {
  tenant: string;
  name: string;
}

/** What is told with a change, where it changes something. */
interface Telling {
  told: Told | null;
}

export interface FireMessage {
  request: Omit<FireRequest, 'job'>;
  /** The tick's job; null: the tick is passed over. */
  group: GroupMessage | null;
  at: number;
  now: number;
}

/** One batch on its way in. */
export interface AppendMessage extends JobKey {
  by: RunFence;
  /** In the order of journal-append. */
  cells: [
    first: number,
    last: number,
    firstAt: number,
    lastAt: number,
    storedAt: number,
    weight: number,
    atMost: number | null,
  ];
  types: string;
  body: Uint8Array;
}

/** A batch as it is stored. */
export type BatchCells = [
  run: number,
  after: number,
  first: number,
  last: number,
  firstAt: number,
  lastAt: number,
  storedAt: number,
  types: string,
  body: Uint8Array,
];

/** Every call that the thread answers, with what goes in and what comes out. */
export interface Calls {
  insert(input: { groups: GroupMessage[]; at: number; now: number }): InsertReply[];
  get(input: readonly JobKey[]): (Row | null)[];
  list(input: JobQuery): { rows: Row[]; cursor: string | null };
  count(input: { filter: JobFilter; atMost: number }): number;
  claim(input: readonly ClaimRequest[]): Row[][];
  claimById(input: ClaimByIdRequest): ClaimByIdReply[];
  opensAt(input: OpeningQuery): number | null;
  apply(input: { changes: (ChangeMessage | EndMessage)[]; at: number; now: number }): ApplyReply[];
  extend(input: readonly ExtendRequest[]): ExtendAnswer[];
  due(input: DueQuery): Omit<DueAnswer, 'jobs' | 'admitted'> & { rows: Row[]; admitted: Row[] };
  prune(input: PruneRequest & { now: number }): PruneAnswer;
  readEvents(input: EventQuery): EventPage;
  endOfEvents(input: null): string;
  tell(input: readonly Told[]): null;
  addReports(input: readonly ReportRequest[]): ReportAnswer[];
  getProgress(input: readonly JobKey[]): (Progress | null)[];
  appendJournal(input: readonly AppendMessage[]): AppendAnswer[];
  readJournal(input: JournalQuery): { rows: BatchCells[]; more: boolean };
  listQueues(input: string): QueueInfo[];
  queueStats(input: Named & { atMost: number }): QueueStats | null;
  setPaused(input: Named & Telling & { paused: boolean }): QueueInfo;
  setKeep(input: Named & Telling & { keep: QueueKeep }): QueueInfo;
  setTenantLimit(input: { tenant: string; concurrency: number | null }): null;
  listTenants(input: TenantQuery): string[];
  setQueueLimit(input: Named & Telling & { limit: LimitRule | null }): QueueInfo;
  setLimit(input: { tenant: string; key: string; rule: LimitRule; now: number }): Row[];
  getLimit(input: { tenant: string; key: string }): LimitInfo | null;
  getWorkflow(input: JobKey): WorkflowRecord | null;
  listWorkflows(input: Parameters<WorkflowStore['list']>[0]): Page<WorkflowRecord>;
  meet(input: Family): Row[];
  waiting(input: Family): Row[];
  parents(input: Family): ParentResult[][];
  hasUnfinished(input: JobKey): boolean;
  /** Null: the workflow was not in the expected state. */
  moveWorkflow(input: { request: Omit<MoveRequest, 'jobs'>; groups: GroupMessage[]; at: number }): InsertReply[] | null;
  putCron(input: Telling & { cron: CronRecord }): CronRecord;
  enableCron(input: Telling & { request: EnableRequest }): CronRecord | null;
  getCron(input: Named): CronRecord | null;
  listCrons(input: string): CronRecord[];
  removeCron(input: Named & Telling): CronRecord | null;
  /** Null: the cron was not as expected. */
  fireCron(input: FireMessage): InsertReply[] | null;
  beat(input: WorkerBeat): WorkerDirective;
  direct(input: Telling & { tenant: string; id: string; directive: WorkerDirective }): WorkerInfo | null;
  listWorkers(input: string): WorkerInfo[];
  getRecords(input: { keys: readonly RecordKey[]; now: number }): (RecordRow | null)[];
  putRecords(input: { requests: readonly RowPut[]; now: number }): RowPutAnswer[];
  listRecords(input: RowQuery): RowPage;
  removeRecord(input: Telling & { key: RecordKey; expected: number | null; now: number }): RemoveAnswer;
  takeLock(input: Parameters<LockTable['take']>[0]): TakeAnswer;
  releaseLock(input: Parameters<LockTable['release']>[0]): boolean;
  ping(input: null): null;
}

export type Verb = keyof Calls;
export type Input<V extends Verb> = Parameters<Calls[V]>[0];
export type Output<V extends Verb> = ReturnType<Calls[V]>;

export interface Call {
  id: number;
  verb: Verb;
  input: unknown;
}

export type ToThread = { open: ThreadOptions } | Call | { watch: Watched } | { close: true } | { end: true };

/** Which writes of other processes matter here. */
export interface Watched {
  jobs: boolean;
  journals: boolean;
}

export interface Answer {
  id: number;
  output?: unknown;
  failure?: Failure;
}

export type FromThread =
  /**
   * One transaction is over; `woken` are the queues that it may have put jobs into, `grown` the jobs whose journals have
   * grown, absent where none has.
   */
  | { answers: Answer[]; woken: string[]; grown?: string[] }
  /** Another process wrote to the file. */
  | { changed: true }
  /** Journals have grown, by another process perhaps: those of these jobs, or of any. */
  | { grown: string[] | null }
  /** The database could not be opened. */
  | { failure: Failure }
  /** Everything was answered, and the thread is free for another store. */
  | { closed: true };

/** The path of a database that ends with its thread. */
export const IN_MEMORY = ':memory:';

/** What a store is opened with. */
export interface ThreadOptions {
  path: string;
  durability: 'full' | 'normal';
  wakeEveryMs: number;
  busyTimeoutMs: number;
}
