import { checkNames, WaybillError } from '@waybill/core';

/** How entries of runs are kept. */
export interface JournalOptions {
  /** Whether `context.log` is kept as an entry, too. @defaultValue true */
  log?: boolean;
  /**
   * Bytes of one run that may wait in memory to be stored, from 65,536 on. Beyond it best-effort entries are dropped and
   * counted, and a critical one waits. @defaultValue 1_048_576
   */
  maxWaitingBytes?: number;
  /**
   * Milliseconds that a critical `emit`, and the end of a run, wait for entries to be stored.
   * @defaultValue the lease of the job
   */
  flushMs?: number;
}

/** Options of a task or a worker about the journal. */
export interface JournalPolicy {
  /** `false`: entries are not kept; `context.log` still logs. @defaultValue kept, with the defaults */
  journal?: false | JournalOptions;
  /**
   * A folder in which entries are durable before they are sent. `false`: none, where the worker has one.
   * @defaultValue none
   */
  outbox?: string | false;
}

/** What holds for the runs of one task. */
export interface ResolvedJournal {
  isOn: boolean;
  log: boolean;
  maxWaitingBytes: number;
  /** Null: as long as the lease of the job. */
  flushMs: number | null;
  outbox: string | null;
}

const NAMES: Readonly<Record<keyof JournalOptions, true>> = { log: true, maxWaitingBytes: true, flushMs: true };
/** Every name of the option `journal`. */
export const JOURNAL_NAMES: readonly string[] = Object.keys(NAMES);

/** Room for one batch. */
export const LEAST_WAITING_BYTES = 65_536;
const MOST_WAITING_BYTES = 1_048_576;

export function checkJournal(owner: string, { journal, outbox }: JournalPolicy): void {
  if (outbox !== undefined && outbox !== false && (typeof outbox !== 'string' || outbox === ''))
    throw refuse(owner, 'outbox', 'the path of a folder, or false');
  if (journal === undefined || journal === false) return;
  if (typeof journal !== 'object' || journal === null) throw refuse(owner, 'journal', 'false or an object');
  checkNames(`${owner}: 'journal'`, journal, JOURNAL_NAMES);
  const { log, maxWaitingBytes, flushMs } = journal;
  if (log !== undefined && typeof log !== 'boolean') throw refuse(owner, 'journal.log', 'true or false');
  if (maxWaitingBytes !== undefined && !isFrom(LEAST_WAITING_BYTES, maxWaitingBytes))
    throw refuse(owner, 'journal.maxWaitingBytes', `an integer from ${LEAST_WAITING_BYTES} on, not ${maxWaitingBytes}`);
  if (flushMs !== undefined && !isFrom(1, flushMs))
    throw refuse(owner, 'journal.flushMs', `whole milliseconds above 0, not ${flushMs}`);
}

/** Field by field: the task first, then the worker. */
export function resolveJournal(task: JournalPolicy, worker: JournalPolicy): ResolvedJournal {
  const near = task.journal === false ? undefined : task.journal;
  const far = worker.journal === false ? undefined : worker.journal;
  const outbox = task.outbox ?? worker.outbox ?? false;
  return {
    isOn: (task.journal ?? worker.journal) !== false,
    log: near?.log ?? far?.log ?? true,
    maxWaitingBytes: near?.maxWaitingBytes ?? far?.maxWaitingBytes ?? MOST_WAITING_BYTES,
    flushMs: near?.flushMs ?? far?.flushMs ?? null,
    outbox: outbox === false ? null : outbox,
  };
}

const isFrom = (least: number, value: number): boolean => Number.isSafeInteger(value) && value >= least;

const refuse = (owner: string, name: string, rule: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${name}' must be ${rule}.`, { details: { field: name } });
