import type { Json } from '@waybill/core';

/** Type of the jobs that `waybill exec` enqueues. */
export const EXEC_TYPE = 'waybill.exec';
/** A queue of their own, so that whoever may enqueue elsewhere may run no programs. */
export const EXEC_QUEUE = 'exec';

/** What the only argument of such a job has. */
export interface ExecInput {
  /** The program and its arguments. */
  command: readonly [string, ...string[]];
  /** On the machine of the worker. */
  cwd?: string;
  /** What the program gets on stdin, as JSON. */
  input?: Json;
}

/** How to start a worker for such jobs, to be pasted into a shell. */
export const startLine = (queue: string): string =>
  `waybill work --exec${queue === EXEC_QUEUE ? '' : ` --queues ${queue}`}`;
