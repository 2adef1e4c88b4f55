import type { Job, JobEventType, Jobs, LoggedEvent, Logger, Outcome } from '@waybill/core';
import { type TestEngine, testEngine } from '@waybill/core/testing';
import { onTestFinished } from 'vitest';
import type { WorkerOptions } from '../options.ts';
import { requestFor } from '../request.ts';
import type { AnyTask } from '../task.ts';
import { Worker } from '../worker.ts';

export interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  message: string;
  fields: Record<string, unknown>;
}

/** A logger that remembers, and can be waited for. */
export class LogBook implements Logger {
  readonly lines: LogLine[] = [];
  #waiting: { text: string; tell(line: LogLine): void }[] = [];

  debug = (fields: object, message: string) => this.#add('debug', fields, message);
  info = (fields: object, message: string) => this.#add('info', fields, message);
  warn = (fields: object, message: string) => this.#add('warn', fields, message);
  error = (fields: object, message: string) => this.#add('error', fields, message);

  warnings(): string[] {
    return this.lines.filter(({ level }) => level === 'warn' || level === 'error').map(({ message }) => message);
  }

  said(text: string): Promise<LogLine> {
    const line = this.lines.find(({ message }) => message.includes(text));
    if (line) return Promise.resolve(line);
    return new Promise((tell) => this.#waiting.push({ text, tell }));
  }

  #add(level: LogLine['level'], fields: object, message: string): void {
    const line = { level, message, fields: fields as Record<string, unknown> };
    this.lines.push(line);
    const met = this.#waiting.filter(({ text }) => message.includes(text));
    this.#waiting = this.#waiting.filter((one) => !met.includes(one));
    for (const { tell } of met) tell(line);
  }
}

export interface Bench extends TestEngine {
  logs: LogBook;
  /** What was settled, in order. */
  settled: Outcome[];
  firstOutcome: Promise<Outcome>;
  jobs: Jobs;
  /** A started worker on the test's clock; stopped when the test ends. */
  work(tasks: readonly AnyTask[], options?: Partial<WorkerOptions>): Worker;
  add(task: AnyTask, input?: unknown, options?: Parameters<typeof requestFor>[2]): Promise<Job>;
  /** Resolves with the job when it has come to an event of this type, for the n-th time. */
  happened(id: string, type: JobEventType, times?: number): Promise<Job>;
}

/** A real engine on the model store, and workers on the same clock. */
export function bench(options: Parameters<typeof testEngine>[0] = {}): Bench {
  const engine = testEngine(options);
  const { waybill, clock } = engine;
  const logs = new LogBook();
  const settled: Outcome[] = [];
  const first = gate<Outcome>();
  const jobs: Jobs = {
    ...waybill.jobs,
    settle: async (call) => {
      const job = await waybill.jobs.settle(call);
      settled.push(call.outcome);
      first.open(call.outcome);
      return job;
    },
  };

  return {
    ...engine,
    logs,
    settled,
    firstOutcome: first.opened,
    jobs,
    work: (tasks, given = {}) => {
      const worker = new Worker({ jobs, tasks, clock, logger: logs, id: 'worker-1', ...given });
      onTestFinished(() => endNow(worker, clock));
      return worker.start();
    },
    add: async (task, input, given) => (await waybill.jobs.enqueue(await requestFor(task, input, given))).job,
    happened: async (id, type, times = 1) => {
      const stop = new AbortController();
      let seen = 0;
      for await (const event of waybill.events.follow({ filter: { jobIds: [id] }, signal: stop.signal })) {
        if (isNth(event)) break;
      }
      stop.abort();
      return waybill.jobs.get(id);

      function isNth(event: LoggedEvent): boolean {
        if (event.type === type) seen += 1;
        return seen === times;
      }
    },
  };
}

async function endNow(worker: Worker, clock: TestEngine['clock']): Promise<void> {
  let isOver = false;
  void worker.stop({ graceMs: 0 }).then(() => {
    isOver = true;
  });
  while (!isOver) {
    await clock.advance(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A promise to be resolved from outside: the handle by which a test holds a handler. */
export function gate<T = void>(): { opened: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => {};
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
