import {
  type Clock,
  checkLogger,
  checkNames,
  checkTenant,
  type Events,
  type Jobs,
  type Logger,
  stderrLogger,
  systemClock,
  WaybillError,
} from '@waybill/core';
import type { ContextHooks } from './context.ts';
import { inProcessRunner } from './execute/in-process.ts';
import type { Middleware } from './execute/middleware.ts';
import type { Runner } from './execute/runner.ts';
import { type IsolatedSettings, isolatedFor } from './isolate/isolated-runner.ts';
import { checkJournal, type JournalPolicy } from './journal/journal-options.ts';
import { type QueueOptions, type QueueOrder, resolveQueues } from './queue-options.ts';
import type { FileStore } from './run-files.ts';
import { allRunners, queueOf, queuesByRunner, type RunnerQueues } from './runner-queues.ts';
import { type AnyTask, checkTask } from './task.ts';
import type { TaskDefaults } from './task-defaults.ts';

export interface WorkerOptions extends ContextHooks, JournalPolicy {
  /** Of an embedded engine or a remote one; nothing else of it is needed. */
  jobs: Pick<Jobs, 'claim' | 'heartbeat' | 'settle' | 'report' | 'append'> &
    Partial<Pick<Jobs, 'ask' | 'enqueue' | 'spend'>>;
  /** Where handlers hear at once that their job was cancelled. @defaultValue none: by the next heartbeat */
  events?: Pick<Events, 'follow' | 'end'>;
  tasks: readonly AnyTask[];
  /**
   * Names, or names with what holds for each: `{ mail: { weight: 3, concurrency: 5 }, bulk: {} }`.
   * @defaultValue the queues of the tasks
   */
  queues?: readonly string[] | Readonly<Record<string, QueueOptions>>;
  /**
   * 'fair': queues with jobs share the starts by their weights. 'strict': a job of an earlier queue always goes first.
   * @defaultValue 'fair'
   */
  order?: QueueOrder;
  /** Handlers at a time, of the runner 'in-process'. @defaultValue 10 */
  concurrency?: number;
  /** Of tasks with the option `isolate`: how many at a time, and how they are ended. @defaultValue 3 at a time */
  isolated?: IsolatedSettings;
  /** For tasks that name another runner than 'in-process' or 'isolated'; stopped with the worker. @defaultValue none */
  runners?: readonly Runner[];
  /**
   * Of the runner 'in-process': jobs claimed ahead of need, so that a free handler finds its next job here. They wait while others could run them,
   * and their timeouts count from the claim.
   * @defaultValue as many as `concurrency` while runs take less than a second on average, else none
   */
  prefetch?: number;
  /** @defaultValue 30_000 */
  leaseMs?: number;
  /** Earlier for jobs with a shorter lease of their own. @defaultValue 20_000 */
  heartbeatMs?: number;
  /** How long a claim waits at the server for a first job. @defaultValue 20_000 */
  waitMs?: number;
  /** How long a stop waits for running handlers. Kubernetes kills after 30 s. @defaultValue 25_000 */
  graceMs?: number;
  /** A larger result fails the run. @defaultValue 1_048_576 */
  maxResultBytes?: number;
  /** Where `context.files` keeps files of jobs. @defaultValue none: it refuses */
  files?: FileStore;
  /** Of the jobs that handlers enqueue by `context.enqueue`. @defaultValue what tasks and calls say alone */
  defaults?: TaskDefaults;
  /** The outermost first. @defaultValue none */
  middleware?: readonly Middleware[];
  /** @defaultValue stderrLogger: warnings and errors, one line each */
  logger?: Logger;
  /** Never asked for the time of day but once per log line: a wrong or jumping clock does no harm. @defaultValue systemClock */
  clock?: Clock;
  /** @defaultValue host name, process id and a random part */
  id?: string;
  tenant?: string;
}

const DEFAULTS = {
  order: 'fair',
  concurrency: 10,
  leaseMs: 30_000,
  heartbeatMs: 20_000,
  waitMs: 20_000,
  graceMs: 25_000,
  maxResultBytes: 1_048_576,
  middleware: [],
  logger: stderrLogger,
  clock: systemClock,
  tenant: '',
} satisfies Partial<WorkerOptions>;

type Defaulted = Required<Pick<WorkerOptions, keyof typeof DEFAULTS | 'jobs'>>;

export interface ResolvedWorkerOptions
  extends Defaulted,
    ContextHooks,
    JournalPolicy,
    Pick<WorkerOptions, 'events' | 'files' | 'defaults'> {
  id: string;
  tasks: ReadonlyMap<string, AnyTask>;
  /** Of all runners. */
  queues: readonly string[];
  /** Those that have queues. */
  runnerQueues: readonly RunnerQueues[];
  runners: readonly Runner[];
  /** Null: as the runs allow. */
  prefetch: number | null;
}

/** A claim takes at most so many. */
export const MAX_CLAIM = 1_000;

const NAMES: Readonly<Record<keyof WorkerOptions, true>> = {
  ...{ jobs: true, events: true, tasks: true, queues: true, order: true, concurrency: true, runners: true },
  ...{ prefetch: true, leaseMs: true, heartbeatMs: true, waitMs: true, graceMs: true, maxResultBytes: true },
  ...{ middleware: true, logger: true, clock: true, id: true, tenant: true, onProgress: true, onLog: true },
  ...{ journal: true, outbox: true, isolated: true, files: true, defaults: true },
};

export function resolveWorkerOptions(options: WorkerOptions, newId: () => string): ResolvedWorkerOptions {
  checkNames('work()', options, Object.keys(NAMES));
  if (!Array.isArray(options.tasks)) throw refuse('tasks', 'must be a list of tasks');
  for (const task of options.tasks) checkTask(task);
  const tasks = new Map(options.tasks.map((task) => [task.name, task]));
  if (tasks.size < options.tasks.length) {
    const twice = options.tasks.find(({ name }, index) => options.tasks.findIndex((one) => one.name === name) < index);
    throw refuse('tasks', `must have different names, and '${twice?.name}' is there twice`);
  }
  const resolvedQueues = resolveQueues(options.queues ?? options.tasks.map(queueOf), options.order ?? DEFAULTS.order);
  const queues = resolvedQueues.map(({ name }) => name);
  const said = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const resolved = { prefetch: null, ...DEFAULTS, id: newId(), ...said, jobs: options.jobs, tasks, queues };
  checkLogger(resolved.logger);
  checkTenant(resolved.tenant);
  checkJournal('work()', options);
  checkRange('concurrency', resolved.concurrency, 1, MAX_CLAIM);
  if (resolved.prefetch !== null) checkRange('prefetch', resolved.prefetch, 0, MAX_CLAIM);
  checkRange('leaseMs', resolved.leaseMs, 1, Number.MAX_SAFE_INTEGER);
  checkRange('heartbeatMs', resolved.heartbeatMs, 1, resolved.leaseMs - 1);
  checkRange('waitMs', resolved.waitMs, 0, Number.MAX_SAFE_INTEGER);
  const given = [...isolatedFor(options, resolved), ...(options.runners ?? [])];
  const runners = allRunners(inProcessRunner({ concurrency: resolved.concurrency }), given, MAX_CLAIM);
  const runnerQueues = queuesByRunner(runners, options.tasks, resolvedQueues);
  if (typeof resolved.jobs?.claim !== 'function') throw refuse('jobs', 'must be the jobs of an engine or of a client');
  return { ...resolved, runners, runnerQueues };
}

function checkRange(name: string, value: number, min: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < min || value > max)
    throw refuse(name, `must be an integer from ${min} to ${max}, not ${value}`);
}

const refuse = (name: string, why: string): WaybillError =>
  new WaybillError('invalid_request', `The option '${name}' ${why}.`);
