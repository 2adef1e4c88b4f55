import { closest, type ErrorInput, type Job, type Logger, UNKNOWN_TYPE } from '@waybill/core';
import { type AnyTask, runnerOf } from './task.ts';

interface UnknownTaskParts {
  /** The worker's id. */
  id: string;
  /** All tasks of the worker, whatever their runner is. */
  tasks: ReadonlyMap<string, AnyTask>;
  logger: Logger;
}

/** Types are chosen by producers, so what is kept per type must have an end. */
const MOST_KEPT = 1_000;

/** Once per type and not once per job, and once for all workers of a process, which mostly share a logger. */
const told = new WeakMap<Logger, Set<string>>();

/** Says why a job cannot be run here: the row, the event and `waybill doctor` show it, and the log tells it once. */
export class UnknownTasks {
  readonly #parts: UnknownTaskParts;
  readonly #runner: string;
  /** Looking for the task that may be meant takes longer than a short run, and many jobs may have the same mistake. */
  readonly #known = new Map<string, ErrorInput>();

  /** `runner` is the one that claims the queues concerned. */
  constructor(runner: string, parts: UnknownTaskParts) {
    this.#runner = runner;
    this.#parts = parts;
  }

  errorFor({ type, queue }: Job): ErrorInput {
    const key = `${queue}\n${type}`;
    const known = this.#known.get(key);
    if (known) return known;
    const error = this.#errorFor(type, queue);
    this.#tell(type, queue, error);
    if (this.#known.size < MOST_KEPT) this.#known.set(key, error);
    return error;
  }

  #errorFor(type: string, queue: string): ErrorInput {
    const { id: worker, tasks } = this.#parts;
    const elsewhere = tasks.get(type);
    if (elsewhere) {
      const message = `Worker ${worker} runs task '${type}' with the runner '${runnerOf(elsewhere)}', and claims queue '${queue}' for '${this.#runner}'. Enqueue the job in another queue.`;
      return { code: UNKNOWN_TYPE, message, details: { worker } };
    }
    const meant = closest(type, [...tasks.keys()]);
    const message = `Worker ${worker} has no task '${type}'.`;
    if (meant === undefined) return { code: UNKNOWN_TYPE, message, details: { worker } };
    return { code: UNKNOWN_TYPE, message: `${message} Did you mean '${meant}'?`, details: { worker, closest: meant } };
  }

  #tell(type: string, queue: string, { message }: ErrorInput): void {
    const { logger, id: worker } = this.#parts;
    const types = told.get(logger) ?? new Set();
    told.set(logger, types);
    if (types.has(type) || types.size >= MOST_KEPT) return;
    types.add(type);
    const wait = 'Its jobs wait for a worker that has it, for 5 s at first and up to an hour. See: waybill doctor';
    logger.warn({ task: type, queue, worker }, `${message} ${wait}`);
  }
}
