import type { Lease, Outcome } from '@waybill/core';
import type { TaskContext } from '../context.ts';
import type { DropReason } from '../journal/journal-counts.ts';
import type { AnyTask } from '../task.ts';

/** How busy a worker is. */
export interface WorkerLoad {
  /** Handlers under way. */
  readonly running: number;
  /** Handlers that may be under way at once, of all runners. */
  readonly slots: number;
  /** Resolves when the worker has stopped. */
  readonly ended: Promise<void>;
}

export interface MiddlewareCall {
  task: AnyTask;
  input: unknown;
  context: TaskContext;
  /** The same object that `settle` is given. */
  lease: Lease;
}

/** Wraps every handler, whichever runner it has; `next` runs the next middleware or the handler itself. */
export interface Middleware {
  (call: MiddlewareCall, next: () => Promise<unknown>): Promise<unknown>;
  /** Told once by every worker that it is given to. */
  attach?(worker: WorkerLoad): void;
  /** Told when entries that runs have said are not stored, and why. What it throws is logged and changes nothing. */
  dropped?(entries: number, reason: DropReason): void;
  /**
   * Wraps the settling of every run, also of those that never came to their handler. `outcome` is null where the lease is
   * lost: then `next` has nothing to write. What it throws before it calls `next` leaves the run to its lease.
   */
  settle?<Settled>(run: { lease: Lease; outcome: Outcome | null }, next: () => Promise<Settled>): Promise<Settled>;
}

/** Runs `handler` inside of all middleware, the first one outermost. */
export function wrapped(
  call: MiddlewareCall,
  middleware: readonly Middleware[],
  handler: () => unknown,
): Promise<unknown> {
  const last = (): Promise<unknown> => promiseOf(handler);
  // Mostly there is one, and a chain would cost it two closures for each run.
  if (middleware.length === 1) return middleware[0]!(call, last);
  const step = (index: number): Promise<unknown> => {
    const wrap = middleware[index];
    return wrap ? wrap(call, () => step(index + 1)) : last();
  };
  return step(0);
}

/** As an async function would, which waits two turns longer for a handler that answers a promise. */
function promiseOf(handler: () => unknown): Promise<unknown> {
  try {
    return Promise.resolve(handler());
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Settles inside of all middleware that wraps settling, the first one outermost. */
export function settledIn<Settled>(
  settling: readonly Pick<Required<Middleware>, 'settle'>[],
  run: { lease: Lease; outcome: Outcome | null },
  settle: () => Promise<Settled>,
): Promise<Settled> {
  if (settling.length === 1) return settling[0]!.settle(run, settle);
  const step = (index: number): Promise<Settled> => {
    const wrap = settling[index];
    return wrap ? wrap.settle(run, () => step(index + 1)) : settle();
  };
  return step(0);
}

/** Those that wrap settling; none in nearly all workers. */
export const settlingOf = (middleware: readonly Middleware[]): readonly Pick<Required<Middleware>, 'settle'>[] =>
  middleware.filter((one): one is Middleware & Pick<Required<Middleware>, 'settle'> => one.settle !== undefined);
