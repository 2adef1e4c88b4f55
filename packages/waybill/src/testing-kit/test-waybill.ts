import {
  type Events,
  engine,
  type Job,
  type JournalEntry,
  type Json,
  type Logger,
  type Outcome,
  silentLogger,
  WaybillError,
} from '@waybill/core';
import {
  type AnyTask,
  inputOf,
  type Jsonified,
  type Middleware,
  requestFor,
  type TaskInput,
  type TaskResult,
} from '@waybill/worker';
import { openStore } from '../connect/open-store.ts';
import { type Connection, connectionTo } from '../sdk/connect.ts';
import { filesInMemory, IsolatedRuns } from './kit-runner.ts';
import { runJob } from './run-job.ts';
import { orRealTime, VirtualClock } from './virtual-clock.ts';

export interface TestWaybillOptions {
  tasks: readonly AnyTask[];
  /** Where time begins. @defaultValue 2030-01-01T00:00:00Z */
  now?: Date;
  middleware?: readonly Middleware[];
  /** More runs in one `drain` are taken for an endless loop. @defaultValue 10_000 */
  maxRuns?: number;
  /**
   * Milliseconds of real time that a handler may take. After that `drain` and `runInline` let virtual time pass to the
   * timeout of its task, where it has one, as nobody else moves the clock meanwhile. @defaultValue 1_000
   */
  handlerMs?: number;
  /** @defaultValue silent */
  logger?: Logger;
}

/** One run of a job, and what it came to. */
export interface Ran {
  task: string;
  job: Job;
  outcome: Outcome | null;
  /** Entries of the run by `emit`, `output` and `log`, in order. */
  entries: JournalEntry[];
}

export interface EnqueuedJob<Input = unknown> {
  id: string;
  task: string;
  /** As it will arrive at the handler's schema. */
  input: Jsonified<Input>;
  job: Job;
}

/** The real engine in memory, on time that the test owns. */
export interface TestWaybill extends Pick<Connection, 'enqueue' | 'enqueueMany'> {
  /** For code under test that takes a connection. */
  waybill: Connection;
  /**
   * Runs the handler now, through validation and middleware as a worker would; throws what it throws. A task without a handler,
   * such as one with `isolate.command`, runs in a real process.
   */
  runInline<T extends AnyTask>(task: T, input: TaskInput<T>): Promise<Jsonified<TaskResult<T>>>;
  /** Entries of the newest `runInline` by `emit`, `output` and `log`, in order; also of a run that failed. */
  entries(): readonly JournalEntry[];
  /** Runs everything that is due, also what is enqueued on the way, one after the other. */
  drain(): Promise<Ran[]>;
  /** Lets time pass: retries, schedules and crons fall due. Nothing is run. */
  advance(ms: number): Promise<void>;
  now(): Date;
  /** What was enqueued so far, in order, of one task or of all. */
  enqueued(): Promise<EnqueuedJob[]>;
  enqueued<T extends AnyTask>(task: T): Promise<EnqueuedJob<TaskInput<T>>[]>;
  close(): Promise<void>;
}

const EPOCH = Date.UTC(2030, 0, 1);
/** Longer than any test's time: the engine looks when something is due, and only then. */
const NEVER_MS = 1_000 * 365 * 86_400_000;
const PAGE = 200;
/** Queues that no job of the test is in. */
const INLINE = 'inline-run-';

export async function testWaybill(options: TestWaybillOptions): Promise<TestWaybill> {
  const { tasks, middleware = [], maxRuns = 10_000, handlerMs = 1_000, logger = silentLogger } = options;
  const clock = new VirtualClock(options.now?.getTime() ?? EPOCH);
  const store = await openStore('sqlite::memory:', { clock, logger });
  const settings = { sweepEveryMs: NEVER_MS, retention: { everyMs: NEVER_MS } };
  const port = clock.forEngine(() => engine({ store, ...settings, logger }));
  const waybill = connectionTo(port, { clock, logger }, orRealTime(clock));
  const byName = new Map(tasks.map((task) => [task.name, task]));
  const isolated = new IsolatedRuns(logger);
  const files = filesInMemory();
  const parts = { port, clock, tasks: byName, middleware, logger, isolated, files, handlerMs };
  let inlineRuns = 0;
  let entries: readonly JournalEntry[] = [];
  await clock.atRest();

  async function drain(): Promise<Ran[]> {
    const ran: Ran[] = [];
    for (;;) {
      await clock.atRest();
      const queues = (await port.queues.list()).map(({ name }) => name).filter((name) => !name.startsWith(INLINE));
      const [lease] = queues.length === 0 ? [] : await port.jobs.claim({ queues, workerId: 'test' });
      if (lease === undefined) return ran;
      if (ran.length === maxRuns)
        throw new Error(`After ${maxRuns} runs there is still work: does a job snooze to now?`);
      const { outcome, entries } = await runJob(lease, parts);
      ran.push({ task: lease.job.type, job: await port.jobs.get(lease.job.id), outcome, entries });
    }
  }

  async function runInline(task: AnyTask, input: unknown): Promise<unknown> {
    inlineRuns += 1;
    const queue = `${INLINE}${inlineRuns}`;
    const { timeout } = task.policy;
    const plain = { ...task, policy: timeout === undefined ? {} : { timeout } };
    await port.jobs.enqueue(await requestFor(plain, input, { queue }));
    const [lease] = await port.jobs.claim({ queues: [queue], workerId: 'test' });
    const ended = await runJob(lease!, { ...parts, tasks: new Map([[task.name, task]]) });
    entries = ended.entries;
    if (ended.outcome?.kind === 'completed') return ended.outcome.result;
    if ('thrown' in ended) throw ended.thrown;
    throw new WaybillError('conflict', `Task '${task.name}' has no result: ${told(ended.outcome)}`, {
      details: { outcome: ended.outcome },
    });
  }

  async function enqueued(task?: AnyTask): Promise<EnqueuedJob[]> {
    const ids = await firstSeen(port.events);
    const jobs = await Promise.all(ids.map((id) => port.jobs.get(id)));
    return jobs
      .filter(({ queue, type }) => !queue.startsWith(INLINE) && (task === undefined || type === task.name))
      .map((job) => ({ id: job.id, task: job.type, input: inputOf(job) as Json, job }));
  }

  return {
    waybill,
    enqueue: waybill.enqueue,
    enqueueMany: waybill.enqueueMany,
    runInline: runInline as TestWaybill['runInline'],
    entries: () => entries,
    drain,
    advance: (ms) => clock.advance(ms),
    now: () => new Date(clock.now()),
    enqueued: enqueued as TestWaybill['enqueued'],
    close: async () => {
      await isolated.stop();
      await waybill.close();
    },
  };
}

/** Every job in the order in which it came to be; neither time nor id tells that within a moment, but the log does. */
async function firstSeen(events: Events): Promise<string[]> {
  const ids: string[] = [];
  const filter = { types: ['job.enqueued', 'job.scheduled', 'job.pending'] as const };
  for (let after: string | undefined; ; ) {
    const page = await events.read({ filter, limit: PAGE, ...(after !== undefined && { after }) });
    ids.push(...page.events.flatMap(({ sequence, jobId }) => (sequence === 1 && jobId !== undefined ? [jobId] : [])));
    if (page.atEnd) return ids;
    after = page.cursor;
  }
}

function told(outcome: Outcome | null): string {
  if (outcome === null) return 'its lease was lost.';
  const reason =
    outcome.kind === 'cancelled' ? outcome.reason : 'error' in outcome ? outcome.error?.message : undefined;
  return reason === undefined ? `it was ${outcome.kind}.` : `it was ${outcome.kind}: ${reason}`;
}
