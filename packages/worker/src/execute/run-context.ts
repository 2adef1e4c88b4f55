import {
  type AskCall,
  checkJson,
  isObject,
  type Jobs,
  type JsonObject,
  type Outcome,
  type Spending,
  type Transaction,
  UNCONFIRMED_MS,
  WaybillError,
} from '@waybill/core';
import type { Answer, AskOptions, ContextHooks, TaskContext } from '../context.ts';
import { enqueueFromRun } from '../enqueue-from-run.ts';
import type { EnqueuedFromRun, RunEnqueueOptions } from '../enqueue-options.ts';
import type { Journaling } from '../journal/journaling.ts';
import {
  type EmitOptions,
  emitted,
  type LogOptions,
  levelOf,
  logged,
  type OutputOptions,
  printed,
} from '../journal/pending-entry.ts';
import type { RunJournal } from '../journal/run-journal.ts';
import { codeOf } from '../patience.ts';
import { type FileStore, filesOf, type RunFiles } from '../run-files.ts';
import type { TaskDefaults } from '../task-defaults.ts';
import type { TypedTask } from '../typed-task.ts';
import { Ending } from './ending.ts';
import { HandlerContext } from './handler-context.ts';
import { type OutcomeParts, outcomeOf } from './outcome.ts';
import type { Validated } from './pipeline.ts';
import { type RunControl, serverNow } from './run-control.ts';
import { type AskingJobs, answerTo, RunQuestions } from './run-questions.ts';
import { RunReports, type RunReportsParts } from './run-reports.ts';
import { type Amounts, RunSpending, type RunSpendingParts } from './run-spending.ts';

/** The same for all runs of a worker. */
export interface RunContextParts extends ContextHooks, RunReportsParts, RunSpendingParts, OutcomeParts {
  jobs: Pick<Jobs, 'report' | 'settle'> & AskingJobs & Partial<Pick<Jobs, 'enqueue' | 'spend'>>;
  /** Of the jobs that handlers enqueue. */
  defaults?: TaskDefaults | undefined;
  workerId: string;
  journaling: Journaling;
  /** Where files of jobs are kept; undefined where there is no place. */
  files?: FileStore | undefined;
}

/** A copy as JSON would carry it, so that what the handler changes later is not sent instead. */
function plain(value: JsonObject): JsonObject {
  const copy: unknown = JSON.parse(JSON.stringify(value) ?? 'null');
  if (!isObject(copy)) throw new TypeError('progress() and checkpoint() take an object.');
  checkJson(copy);
  return copy;
}

/** How long a run that was aborted may take to get its last entries stored. */
const ABORTED_FLUSH_MS = 5_000;

/** The context of one run, and what the pipeline knows about it. */
export class RunContext {
  readonly context: TaskContext;
  /** What the handler asked for by snooze, discard or cancel. Kept here, since a `catch` on the way may swallow it. */
  asked: Outcome | undefined;
  /** Whether the handler has completed the run itself; whether that was committed, only the row knows. */
  isCompletedWithin = false;
  #state: 'live' | 'abandoned' | 'over' = 'live';
  readonly #run: Validated;
  readonly #control: RunControl;
  readonly #parts: RunContextParts;
  /** Made with the first word: most runs say nothing. */
  #reports: RunReports | undefined;
  #spending: RunSpending | undefined;
  #journal: RunJournal | undefined;
  #questions: RunQuestions | undefined;
  #hasWarnedOfLateness = false;
  /** From the call of `complete` on: an entry would wait for the handler's transaction, and be refused after its commit. */
  #isJournalClosed = false;

  constructor(run: Validated, control: RunControl, parts: RunContextParts) {
    this.#run = run;
    this.#control = control;
    this.#parts = parts;
    this.context = new HandlerContext(this, run.lease, parts.workerId);
  }

  /** The run is settled. `goesOn`: its handler has not ended yet, so what it throws is still caught. */
  close({ goesOn }: { goesOn: boolean }): void {
    this.#state = goesOn ? 'abandoned' : 'over';
  }

  /** Whether the handler did more than its work: asked for an outcome, reported or emitted something, or completed the run itself. */
  get hasActed(): boolean {
    return this.asked !== undefined || this.hasEntries || this.isCompletedWithin;
  }

  /** Whether reports, entries or expenses of the run may be on their way. */
  get hasEntries(): boolean {
    return this.#reports !== undefined || this.#journal !== undefined || this.#spending !== undefined;
  }

  /**
   * Resolves when the last reports and entries have arrived, or were given up. Answers why a critical entry could
   * not be stored, null where none is missing.
   */
  async endJournal(): Promise<WaybillError | null> {
    const isLost = this.#control.isAborted && codeOf(this.#control.reason) === 'lease_lost';
    const [missing] = await Promise.all([
      this.#journal?.end(this.#flushMs(), isLost),
      this.#reports?.end(),
      isLost ? undefined : this.#spending?.end(),
    ]);
    return missing ?? null;
  }

  /** At the timeout the server ends the run itself: half of what is left is for settling. An aborted run has a moment only. */
  #flushMs(): number {
    const { lease, task } = this.#run;
    const { clock, journaling } = this.#parts;
    const whole = journaling.flushMs(lease, task);
    if (this.#control.isAborted) return Math.min(whole, ABORTED_FLUSH_MS);
    const { timeoutMs } = lease.job;
    if (timeoutMs === null) return whole;
    return Math.min(whole, Math.max(0, this.#control.claimedAt + timeoutMs - clock.monotonic()) / 2);
  }

  get signal(): AbortSignal {
    return this.#control.signal;
  }

  get files(): RunFiles {
    return filesOf(this.#run.lease.job, this.#parts.files);
  }

  async enqueue(task: TypedTask, input: unknown, options: RunEnqueueOptions | undefined): Promise<EnqueuedFromRun> {
    if (!this.#isLive('enqueue')) throw new WaybillError('lease_lost', 'The run is over, so it enqueues no jobs.');
    return enqueueFromRun(this.#run.lease.job, this.#parts, task, input, options);
  }

  #report(word: Parameters<RunReports['tell']>[0]): void {
    this.#reports ??= new RunReports(this.#run.lease, this.#parts);
    this.#reports.tell(word);
  }

  progress(given: number, detail: string | JsonObject | undefined): void {
    if (!this.#isLive('progress')) return;
    const fraction = Math.min(1, Math.max(0, Number(given) || 0));
    const data = detail === undefined ? undefined : typeof detail === 'string' ? { message: detail } : plain(detail);
    const { job } = this.#run.lease;
    this.#report({ fraction, ...(data && { data }) });
    const message = data?.['message'];
    this.#tell(() =>
      this.#parts.onProgress?.({
        job,
        fraction,
        ...(typeof message === 'string' && { message }),
        ...(data && { data }),
      }),
    );
  }

  checkpoint(state: JsonObject): void {
    if (!this.#isLive('checkpoint')) return;
    this.#report({ checkpoint: plain(state) });
  }

  emit(name: string, data: unknown, options: EmitOptions): Promise<void> {
    if (!this.#mayEmit('emit')) return Promise.resolve();
    const { lease, task } = this.#run;
    const { journaling } = this.#parts;
    const pending = emitted(name, data, options, this.#now());
    if (!journaling.settingsOf(task).isOn) {
      if (options.critical !== true) return Promise.resolve();
      const message = `Task '${task.name}' keeps no journal, so context.emit('${name}') cannot be critical.`;
      throw new WaybillError('invalid_request', message);
    }
    if (this.#isJournalClosed) return this.#emitLate(name, pending.isCritical);
    if (pending.isCritical) return this.#openJournal().addCritical(pending, journaling.flushMs(lease, task));
    this.#openJournal().add([pending]);
    return Promise.resolve();
  }

  output(data: string | Uint8Array, options: OutputOptions): void {
    if (!this.#mayEmit('output')) return;
    const pending = printed(data, options, this.#now());
    if (pending.length === 0 || !this.#parts.journaling.settingsOf(this.#run.task).isOn) return;
    if (this.#isJournalClosed) this.#warnOfClosedJournal('output');
    else this.#openJournal().add(pending);
  }

  spend(amounts: Amounts, key: string | undefined): Promise<Spending> {
    const { lease, task } = this.#run;
    if (!this.#isLive('spend')) {
      const over = Promise.reject(new WaybillError('lease_lost', `The run of task '${task.name}' is over.`));
      over.catch(() => {});
      return over;
    }
    this.#spending ??= new RunSpending(lease, () => this.signal, this.#parts);
    return this.#spending.spend(amounts, key);
  }

  /** After `complete` nothing critical can be stored: before the commit, the handler can still roll back. */
  #emitLate(name: string, isCritical: boolean): Promise<void> {
    this.#warnOfClosedJournal('emit');
    if (!isCritical) return Promise.resolve();
    const { task } = this.#run;
    const message = `Task '${task.name}' called context.emit('${name}') after context.complete(), and it is critical.`;
    const hint = 'Emit critical entries before context.complete().';
    const rejected = Promise.reject(new WaybillError('invalid_request', message, { hint }));
    // The process must not end where the handler does not await it.
    rejected.catch(() => {});
    return rejected;
  }

  #warnOfClosedJournal(method: string): void {
    if (this.#hasWarnedOfLateness) return;
    this.#hasWarnedOfLateness = true;
    const { job } = this.#run.lease;
    const fields = { task: job.type, job: job.id, run: job.run };
    this.#parts.logger.warn(
      fields,
      `Task '${job.type}' called context.${method}() after context.complete(); the journal does not keep it.`,
    );
  }

  #openJournal(): RunJournal {
    const { lease, task } = this.#run;
    this.#journal ??= this.#parts.journaling.open(lease, this.#control, task);
    return this.#journal;
  }

  #now(): number {
    return serverNow(this.#run.lease, this.#control, this.#parts.clock);
  }

  /** What a handler says too late may be thousands of lines: one warning is enough. */
  #mayEmit(method: string): boolean {
    if (this.#state === 'live') return true;
    if (this.#hasWarnedOfLateness) return false;
    this.#hasWarnedOfLateness = true;
    return this.#isLive(method);
  }

  log(message: string, fields: object, options: LogOptions): void {
    if (!this.#isLive('log')) return;
    const level = levelOf(options);
    const { job } = this.#run.lease;
    const { logger, onLog, journaling } = this.#parts;
    logger[level]({ ...fields, task: job.type, job: job.id, run: job.run }, message);
    const { isOn, log } = journaling.settingsOf(this.#run.task);
    if (isOn && log && !this.#isJournalClosed) this.#openJournal().add([logged(level, message, fields, this.#now())]);
    this.#tell(() => onLog?.({ job, level, message, fields }));
  }

  async complete<Result>(result: Result, within: Transaction): Promise<Result> {
    if (!this.#isLive('complete')) throw new WaybillError('lease_lost', 'The run is over; roll the transaction back.');
    this.#isJournalClosed = true;
    try {
      const missing = await this.#journal?.flush(this.#flushMs());
      if (missing) throw missing;
      await completeWithin(this.#run, result, within, this.#parts);
      this.isCompletedWithin = true;
    } finally {
      this.#isJournalClosed = this.isCompletedWithin;
    }
    return result;
  }

  /** How the question was asked that the run has ended for. */
  get waitsFor(): AskCall | undefined {
    return this.#questions?.waitsFor;
  }

  ask(asked: AskOptions): Promise<Answer> {
    const answer = this.#ask(asked);
    // The handler need not await it; what ends the run must not end the process.
    answer.catch(() => {});
    return answer;
  }

  async #ask(asked: AskOptions): Promise<Answer> {
    if (!this.#isLive('ask')) throw new WaybillError('lease_lost', 'The run is over, so nothing can be asked.');
    this.#questions ??= new RunQuestions(this.#run.lease, this.#parts.jobs);
    const question = await this.#questions.ask(asked);
    const answer = answerTo(question);
    if (answer !== null) return answer;
    // Short: only when this is settled the job is let to sleep for as long as the question is open.
    const until = Math.min(question.expiresAt, this.#now() + UNCONFIRMED_MS);
    return this.end('ask', { kind: 'snoozed', until });
  }

  snooze(until: number | Date): never {
    const moment =
      until instanceof Date
        ? until.getTime()
        : serverNow(this.#run.lease, this.#control, this.#parts.clock) + Math.round(until);
    return this.end('snooze', { kind: 'snoozed', until: moment });
  }

  end(method: string, outcome: Outcome): never {
    if (this.#isLive(method)) {
      if (outcome.kind === 'snoozed' && 'until' in outcome && !Number.isFinite(outcome.until)) {
        throw new TypeError('snooze() takes milliseconds or a Date.');
      }
      this.asked ??= outcome;
    }
    // Thrown after the handler has returned, nobody would catch it and the whole process would end.
    if (this.#state === 'over') return undefined as never;
    throw new Ending(outcome);
  }

  #isLive(method: string): boolean {
    if (this.#state === 'live') return true;
    const { job } = this.#run.lease;
    const { logger } = this.#parts;
    const fields = { task: job.type, job: job.id, run: job.run };
    logger.warn(fields, `Task '${job.type}' called context.${method}() after its run had ended; it has no effect.`);
    return false;
  }

  /** A hook is not the handler's business: its failure must not become the job's. */
  #tell(hook: () => void): void {
    try {
      hook();
    } catch (error) {
      const { job } = this.#run.lease;
      const { logger } = this.#parts;
      logger.warn({ err: error, task: job.type, job: job.id }, 'A hook of the worker threw.');
    }
  }
}

/** What the handler's own transaction completes is what a return would have completed, and is refused for the same. */
async function completeWithin(
  { lease, task }: Validated,
  result: unknown,
  within: Transaction,
  parts: RunContextParts,
): Promise<void> {
  const { job, token } = lease;
  const outcome = outcomeOf({ kind: 'returned', value: result }, parts, task);
  if (outcome.kind === 'failed') throw new WaybillError('invalid_request', outcome.error.message);
  await parts.jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome, within });
}
