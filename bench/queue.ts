import type { Task } from './result.ts';

export const QUEUE = 'bench';
export const TYPE = 'bench.job';
export const PER_CALL = 1_000;

/** About a hundred bytes. */
export type Payload = { order: number; customer: string; note: string };

/** The number of an order tells one job from the other where that matters, and is always five digits wide. */
export const payload = (order = 12_345): Payload => ({
  order,
  customer: 'ada@example.com',
  note: 'a hundred bytes or so of arguments',
});

export interface Counts {
  /** Jobs that are due and not finished. */
  waiting: number;
  /** Jobs that are kept as finished well. */
  completed: number;
}

export interface BenchWorker {
  stop(): Promise<void>;
  /** Runs under way, where the worker tells. */
  readonly running?: number;
  /** Jobs that it has claimed and not begun. */
  readonly waiting?: number;
}

/** One job queue, ours or a peer's, as the workloads use it: connected, with whatever schema it needs in place. */
export interface BenchQueue {
  enqueue(payload: Payload): Promise<unknown>;
  /** All in one call. With a time they are scheduled for then. */
  enqueueMany(payloads: readonly Payload[], at?: Date): Promise<unknown>;
  /** Starts a worker whose handler does nothing but tell that it began. */
  work(began: (payload: Payload) => void): Promise<BenchWorker>;
  /** Whether a due job is unfinished; cheap, since it is asked until the answer is no. */
  busy(): Promise<boolean>;
  /** Exact, and not part of any time that is measured. */
  counts(): Promise<Counts>;
  close(): Promise<void>;
}

export interface System {
  /** What differs from the library's defaults, for the result. */
  settings: string;
  /** Whether finished jobs can still be read. */
  keepsFinished: boolean;
  open(task: Task): Promise<BenchQueue>;
}
