import type {
  ClaimByIdRequest,
  ClaimRequest,
  DueQuery,
  Edge,
  EventPage,
  EventQuery,
  ExtendAnswer,
  ExtendRequest,
  JobFilter,
  JobKey,
  JobQuery,
  LimitInfo,
  LimitSettings,
  PruneAnswer,
  PruneRequest,
  QueueInfo,
  WorkerBeat,
  WorkerDirective,
  WorkerInfo,
} from '@waybill/core';
import type { Failure } from './failures.ts';
import type { MutableCells, Row } from './rows.ts';

/** Events travel encoded (event-codec.ts), rows as arrays (rows.ts): the receiver binds or stores them as they are. */
export interface GroupMessage {
  rows: Row[];
  events: string[];
  edges: readonly Edge[];
}

export type InsertReply =
  /** `admitted`: which of the group's jobs got a slot of their limit. */
  { status: 'inserted'; admitted: number[] } | { status: 'exists' | 'repeated'; index: number; row: Row };

export interface ChangeMessage {
  tenant: string;
  id: string;
  by: 'lease' | 'version';
  /** Run and claim id, or version and next_at. */
  fence: [number, string | number | null];
  cells: MutableCells;
  events: string[];
  slot: 'release' | 'request' | null;
  limitKey: string | null;
}

export type ApplyReply = 'applied' | 'repeated' | 'lost' | { admitted: Row[] };

export type ClaimByIdReply = Row | 'not_due' | 'parked' | 'paused' | 'held' | 'finished' | 'unknown';

/** Every call that the thread answers, with what goes in and what comes out. */
export interface Calls {
  insert(input: { groups: GroupMessage[]; at: number }): InsertReply[];
  get(input: readonly JobKey[]): (Row | null)[];
  list(input: JobQuery): { rows: Row[]; cursor: string | null };
  count(input: { filter: JobFilter; atMost: number }): number;
  claim(input: readonly ClaimRequest[]): Row[][];
  claimById(input: ClaimByIdRequest): ClaimByIdReply[];
  apply(input: { changes: ChangeMessage[]; at: number }): ApplyReply[];
  extend(input: readonly ExtendRequest[]): ExtendAnswer[];
  due(input: DueQuery): { rows: Row[]; nextAt: number | null };
  prune(input: PruneRequest): PruneAnswer;
  readEvents(input: EventQuery): EventPage;
  endOfEvents(input: null): string;
  listQueues(input: string): QueueInfo[];
  setPaused(input: QueueInfo): QueueInfo;
  setLimit(input: LimitSettings): { admitted: number };
  getLimit(input: { tenant: string; key: string }): LimitInfo | null;
  advance(input: { tenant: string; parent: string; now: number }): Row[];
  beat(input: WorkerBeat): WorkerDirective;
  direct(input: { tenant: string; id: string; directive: WorkerDirective }): WorkerInfo | null;
  listWorkers(input: string): WorkerInfo[];
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

export type ToThread = Call | { watch: boolean } | { close: true };

export interface Answer {
  id: number;
  output?: unknown;
  failure?: Failure;
}

export type FromThread =
  /** One transaction is over; `woken` are the queues that it may have put jobs into. */
  | { answers: Answer[]; woken: string[] }
  /** Another process wrote to the file. */
  | { changed: true }
  /** The database could not be opened; the thread ends. */
  | { failure: Failure };

/** The path of a database that ends with its thread. */
export const IN_MEMORY = ':memory:';

/** What the thread is started with. */
export interface ThreadOptions {
  path: string;
  durability: 'full' | 'normal';
  wakeEveryMs: number;
  busyTimeoutMs: number;
}
