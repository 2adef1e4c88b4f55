import type { JobRequest } from '../enqueue/envelope.ts';
import type { Job } from '../job/job.ts';
import type { Aside } from './aside.ts';
import type { WaitingClaim } from './waiting-claim.ts';

/** Tells that a job is ready. It may be lost, doubled, late or out of order, and nothing breaks. */
export interface Hint {
  tenant: string;
  jobId: string;
  queue: string;
  type: string;
  priority: number;
  attempt: number;
  /** How long the hint should wait before it is delivered. */
  delayMs: number;
  /** What the producer calls its request, where it said so. */
  requestId?: string;
  /** The W3C trace that the job belongs to. */
  traceparent?: string;
}

/** One hint as received: an id and a receipt, never the payload. */
export interface Delivery {
  tenant: string;
  jobId: string;
  queue: string;
  /** What the transport needs to delete or prolong the message. */
  receipt: string;
  /** The message came from a foreign producer and has no row yet: it becomes this job first. */
  adopt?: JobRequest;
  /** That message as the transport has it, so that it can be put aside. */
  message?: unknown;
}

export interface ReceiveRequest {
  tenant: string;
  /** In order of preference. */
  queues: readonly string[];
  max: number;
  /** How long to wait for a first hint. */
  waitMs: number;
  signal?: AbortSignal;
  /** For transports that deliver by claiming. */
  claim: { claimId: string; workerId: string; leaseMs: number };
}

/** Jobs already claimed (the transport is the store), or hints that the engine claims by id. */
export type Received = { kind: 'claimed'; jobs: Job[] } | { kind: 'hints'; deliveries: Delivery[] };

export interface TransportCapabilities {
  name: string;
  /** Whether jobs arrive by rank, or only tier by tier. */
  ordering: 'strict' | 'tiers';
  /** Whether receiving claims. Hints can be lost, so whoever delivers them is watched: see docs/adr/0003-hints.md. */
  delivers: Received['kind'];
  /** False where only what is delivered may be claimed, as in a function that is called for certain messages. @defaultValue true */
  hasSafetyNet?: boolean;
}

export interface Transport {
  readonly capabilities: TransportCapabilities;
  /**
   * Refuses with `invalid_request` a queue of jobs that no job can come through, before a job is made for it. Undefined where the
   * queue is known. A transport that cannot find out takes the job. Absent: every queue can be used.
   */
  checkQueue?(tenant: string, queue: string): Promise<void> | undefined;
  /** Called after the rows were committed. A failure is logged and forgotten: the row's `nextAt` hints again. */
  send(hints: readonly Hint[]): Promise<void>;
  receive(request: ReceiveRequest): Promise<Received>;
  /** Of those who wait here for a job of this queue, the one to whom a new one can be handed over as it is written. */
  takeWaiting?(tenant: string, queue: string): WaitingClaim | undefined;
  /** The row was settled, or says that the hint is useless. */
  ack(delivery: Delivery): Promise<void>;
  /** Keeps the message hidden as long as the lease lasts. */
  extend(delivery: Delivery, ms: number): Promise<void>;
  /** Gives the message back, to be delivered again after `delayMs`. */
  release(delivery: Delivery, delayMs: number): Promise<void>;
  /** Roughly how many hints of a queue wait to be delivered, where that can be known. */
  depth?(tenant: string, queue: string): Promise<number>;
  /** Tells operators of jobs that have died. Best effort: the rows are the dead-letter set. */
  tellDead?(jobs: readonly Job[]): Promise<void>;
  /** A foreign message that can never be a job goes where people find it. Absent: it is deleted. */
  putAside?(delivery: Delivery, reason: string): Promise<void>;
  /** What was put aside, to be looked at and sent back. */
  readonly aside?: Aside;
  /** Resolves when the queues can be used; rejects with what is wrong. Absent where the store is all there is. */
  ping?(): Promise<void>;
  close(): Promise<void>;
}
