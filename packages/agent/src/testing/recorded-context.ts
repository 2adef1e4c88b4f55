import type { Job, JsonObject, Spending } from '@waybill/core';
import type { Answer, AskOptions } from '@waybill/worker';
import type { AgentContext } from '../agent-definition.ts';
import { memoryFiles, type RunFiles } from '../run-files.ts';

export interface RecordedEntry {
  type: string;
  data: unknown;
}

export interface RecordedContextOptions {
  jobId?: string;
  run?: number;
  files?: RunFiles;
  lastCheckpoint?: JsonObject | null;
  /** Of the job, in milliseconds. @defaultValue none */
  timeoutMs?: number;
  /** What `ask` answers, in this order. @defaultValue nothing: the run ends there */
  answers?: readonly Answer[];
  /** What the engine says of shared budgets. @defaultValue there are none */
  spend?(expense: RecordedExpense): Spending | Promise<Spending>;
}

export interface RecordedExpense {
  amounts: Readonly<Record<string, number>>;
  key: string | undefined;
}

/** A context for one run outside of a worker, which keeps what the run says. */
export class RecordedContext implements AgentContext {
  readonly job: Job;
  readonly attempt: number;
  readonly files: RunFiles;
  readonly lastCheckpoint: JsonObject | null;
  readonly parentResults: [] = [];
  readonly entries: RecordedEntry[] = [];
  readonly logs: { message: string; fields: object }[] = [];
  /** What was told of shared budgets. */
  readonly expenses: RecordedExpense[] = [];
  /** Until when the run has asked to be put off. */
  snoozed: number | Date | null = null;
  /** The newest. */
  saved: JsonObject | null = null;
  readonly #spend: NonNullable<RecordedContextOptions['spend']>;
  readonly asked: AskOptions[] = [];
  readonly #answers: Answer[];
  readonly #aborting = new AbortController();
  readonly #waiting = new Set<(entry: RecordedEntry) => void>();

  constructor(options: RecordedContextOptions = {}) {
    const {
      jobId = '01900000-0000-7000-8000-000000000001',
      run = 1,
      lastCheckpoint = null,
      timeoutMs = null,
    } = options;
    const spec = { args: [], meta: {} };
    this.job = { id: jobId, run, attempt: run, type: 'agent.test', spec, timeoutMs } as unknown as Job;
    this.attempt = run;
    this.files = options.files ?? memoryFiles();
    this.lastCheckpoint = lastCheckpoint;
    this.#spend = options.spend ?? (() => ({ budgets: [], exceeded: [] }));
    this.#answers = [...(options.answers ?? [])];
  }

  get signal(): AbortSignal {
    return this.#aborting.signal;
  }

  abort(reason: unknown): void {
    this.#aborting.abort(reason);
  }

  emit = async (type: string, data?: unknown): Promise<void> => {
    // As JSON, because that is what a journal keeps.
    const entry = { type, data: JSON.parse(JSON.stringify(data ?? null)) };
    this.entries.push(entry);
    for (const hear of [...this.#waiting]) hear(entry);
  };

  checkpoint = (state: JsonObject): void => {
    this.saved = JSON.parse(JSON.stringify(state));
  };

  /** Answers what the options say; without an answer it ends the run as a worker does, with what is no Error. */
  ask = async (question: AskOptions): Promise<Answer> => {
    this.asked.push(JSON.parse(JSON.stringify(question)));
    const answer = this.#answers.shift();
    if (answer === undefined) throw { outcome: 'snoozed' };
    return answer;
  };

  log = (message: string, fields: object = {}): void => {
    this.logs.push({ message, fields });
  };

  spend = async (
    amounts: RecordedExpense['amounts'],
    { key }: { key?: string | undefined } = {},
  ): Promise<Spending> => {
    const expense = { amounts, key };
    this.expenses.push(expense);
    return this.#spend(expense);
  };

  snooze = (until: number | Date): never => {
    this.snoozed = until;
    throw new Error('The run was put off.');
  };

  /** Data of all entries of this type. */
  of(type: string): unknown[] {
    return this.entries.filter((entry) => entry.type === type).map(({ data }) => data);
  }

  /** Resolves with the next entry of this type. */
  async next(type: string, { timeoutMs = 60_000 } = {}): Promise<RecordedEntry> {
    const { promise, resolve, reject } = Promise.withResolvers<RecordedEntry>();
    const hear = (entry: RecordedEntry): void => void (entry.type === type && resolve(entry));
    const timer = setTimeout(() => reject(new Error(`No entry '${type}' came within ${timeoutMs} ms.`)), timeoutMs);
    this.#waiting.add(hear);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(hear);
    });
  }
}
