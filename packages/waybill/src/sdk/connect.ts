import {
  type Clock,
  type CronRecord,
  checkNames,
  closest,
  type EnqueueContext,
  invalidField,
  type Job,
  type Json,
  type Keys,
  newJobId,
  stderrLogger,
  systemClock,
  type Transaction,
  type Waybill,
  WaybillError,
  type WorkflowInfo,
} from '@waybill/core';
import {
  type AnyTask,
  dataFor,
  ENQUEUE_OPTIONS,
  type EnqueueOptions,
  isSignal,
  type Jsonified,
  requestFor,
  type Signal,
  type TaskInput,
  type TaskResult,
  Worker,
  type WorkerOptions,
} from '@waybill/worker';
import { LARGEST_PAYLOAD } from '../connect/open-blobs.ts';
import { isRemote } from '../connect/parse-address.ts';
import { checkedCalls, checkedDeadLetters } from './checked-calls.ts';
import type { ConnectOptions } from './connect-options.ts';
import {
  type DeadLettersById,
  deadLettersById,
  type IdOf,
  type JobsById,
  jobsById,
  type WorkflowsById,
  workflowsById,
} from './id-argument.ts';
import { LazyFileStore } from './lazy-file-store.ts';
import { open } from './open.ts';
import { plainSchedule, type ScheduleRequest } from './schedule-request.ts';
import { type ScheduleGiven, scheduleOf } from './schedule-task.ts';
import { checkedServer } from './server-check.ts';
import { isInstrumentation, loadTelemetry } from './telemetry-option.ts';
import { checkWait, resultOf, type WaitOptions, Waits } from './wait.ts';
import { type BuildOptions, builtWorkflow, type WorkflowBuilder } from './workflow-builder.ts';
import { type GraphNode, plainNodes, plainWorkflow, type WorkflowRequest } from './workflow-request.ts';
import { type EndedWorkflow, isStartedWorkflow, type StartedWorkflow, untilEnded } from './workflow-wait.ts';

declare const RESULT: unique symbol;

/** A job that was enqueued. The compiler knows what it will come to. */
export interface Enqueued<Result = unknown> {
  id: string;
  job: Job;
  /** False: a job under the same idempotency key or unique key was there already, and this is it. */
  created: boolean;
  readonly [RESULT]?: Result;
}

/** A task without input needs none in the call. */
type Given<T> = [TaskInput<T>] extends [undefined]
  ? [input?: undefined, options?: EnqueueOptions]
  : [input: TaskInput<T>, options?: EnqueueOptions];

const STOP_SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR2', 'SIGBREAK'] as const;

/** Written out, since whoever has no types of Node would have none of ours. */
export type StopSignal = (typeof STOP_SIGNALS)[number];

export interface WorkOptions extends Omit<WorkerOptions, 'jobs' | 'tasks'> {
  /** Signals at which the worker drains and the connection closes, e.g. `['SIGTERM', 'SIGINT']`. @defaultValue none */
  stopOn?: readonly StopSignal[];
}

type Crons = Waybill['crons'];

/** Schedules, whose jobs may be those of tasks. */
export interface TypedCrons extends Crons {
  put(request: ScheduleRequest, context?: { tenant?: string }): Promise<CronRecord>;
}

/** Workflows, whose jobs may be those of tasks. */
export interface TypedWorkflows extends Omit<WorkflowsById, 'signal'> {
  /** Data of a defined signal is checked against its schema first. */
  signal<Data>(
    workflow: IdOf,
    signal: Signal<Data>,
    data: NoInfer<Data>,
    context?: { tenant?: string; by?: string },
  ): Promise<WorkflowInfo>;
  signal(workflow: IdOf, name: string, data: Json, context?: { tenant?: string; by?: string }): Promise<WorkflowInfo>;
  create(request: WorkflowRequest, context?: { tenant?: string; within?: Transaction }): Promise<WorkflowInfo>;
  addNodes(id: string, nodes: readonly GraphNode[], context?: { tenant?: string }): Promise<WorkflowInfo>;
}

/** The port, and on top of it typed tasks. */
export interface Connection extends Waybill {
  /** An id may be given as text, or as what `enqueue` has answered. */
  readonly jobs: JobsById;
  readonly deadLetters: DeadLettersById;
  readonly crons: TypedCrons;
  readonly workflows: TypedWorkflows;
  readonly keys: Keys;
  /** Checked against the task's schema before anything is stored; durable when it answers. */
  enqueue<T extends AnyTask>(task: T, ...given: Given<T>): Promise<Enqueued<TaskResult<T>>>;
  /** All or nothing, at most 1,000 in a call. */
  enqueueMany<T extends AnyTask>(
    task: T,
    inputs: readonly TaskInput<T>[],
    options?: Omit<EnqueueOptions, 'id' | 'idempotencyKey'>,
  ): Promise<Enqueued<TaskResult<T>>[]>;
  /**
   * The result, once the job has completed. Refused with `conflict` when it ends otherwise, `timeout` when late, and with
   * `unsupported` at once where the queue keeps nothing of jobs that complete.
   */
  wait<Result = unknown>(job: Enqueued<Result> | string, options?: WaitOptions): Promise<Jsonified<Result>>;
  /** How a workflow has ended, with the results of its nodes by their names. Refused with `timeout` when late. */
  wait(workflow: StartedWorkflow, options?: WaitOptions): Promise<EndedWorkflow>;
  /**
   * A graph of jobs of tasks: `w.run` adds a node, `w.map` one job for each item of a list. All of it is stored, or nothing;
   * durable when it answers. See docs/workflows.md.
   */
  workflow(build: (w: WorkflowBuilder) => unknown, options?: BuildOptions): Promise<StartedWorkflow>;
  /** A job of the task at each tick of a cron expression. Put again under the same name, it replaces the schedule. */
  schedule<T extends AnyTask>(task: T, expression: string, ...given: ScheduleGiven<T>): Promise<CronRecord>;
  /** A started worker; stopped by its `stop` or when the connection closes. */
  work(tasks: readonly AnyTask[], options?: WorkOptions): Worker;
  /** Stops the workers of this connection, then closes it. */
  close(): Promise<void>;
}

/**
 * `sqlite:./waybill.db` and `sqlite::memory:`, `postgres://..` and `dynamodb://..` run the engine in this process;
 * `http(s)://..` and `grpc(s)://..` speak to a server; over gRPC, to what workers and producers need of it.
 */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Connection> {
  const telemetry = await loadTelemetry(options?.telemetry);
  // The port and the workers share one.
  const given = telemetry === undefined ? options : { ...options, telemetry };
  const port = await open(url, given);
  return connectionTo(isRemote(url) ? checkedServer(port, url, given) : port, given);
}

/** `waitClock`: by which `wait` counts, where that is another one. */
export function connectionTo(port: Waybill, options: ConnectOptions = {}, waitClock?: Clock): Connection {
  const { logger = stderrLogger, clock = systemClock, blobs, tenant, defaults, telemetry } = options;
  const workers = new Set<Worker>();
  const files = blobs === undefined ? undefined : new LazyFileStore(blobs, telemetry);
  let isClosed = false;
  const waits = new Waits(port, waitClock ?? clock, tenant);
  const [crons, workflows] = [checkedCalls(port, 'crons'), checkedCalls(port, 'workflows')];
  const byId = workflowsById(workflows);
  const connection: Connection = {
    jobs: jobsById(checkedCalls(port, 'jobs')),
    deadLetters: deadLettersById(checkedDeadLetters(port)),
    queues: checkedCalls(port, 'queues'),
    limits: checkedCalls(port, 'limits'),
    tenants: checkedCalls(port, 'tenants'),
    budgets: checkedCalls(port, 'budgets'),
    crons: { ...crons, put: async (request, context) => crons.put(await plainSchedule(request, defaults), context) },
    workflows: {
      ...byId,
      signal: async (
        workflow: IdOf,
        signal: Signal | string,
        data: unknown,
        context?: { tenant?: string; by?: string },
      ) =>
        isSignal(signal)
          ? byId.signal(workflow, signal.name, await dataFor(signal, data), context)
          : byId.signal(workflow, signal, data as Json, context),
      create: async (request, context) => workflows.create(await plainWorkflow(request, defaults), context),
      addNodes: async (id, nodes, context) => workflows.addNodes(id, await plainNodes(nodes, defaults), context),
    },
    workers: checkedCalls(port, 'workers'),
    questions: checkedCalls(port, 'questions'),
    events: checkedCalls(port, 'events'),
    checks: checkedCalls(port, 'checks'),
    ...(port.records && { records: checkedCalls(port, 'records') }),
    ...((port.keys && { keys: checkedCalls(port, 'keys') }) as { keys: Keys }),
    health: () => port.health(),

    enqueue: async (task, ...[input, given = {}]) => {
      const { job, created } = await port.jobs.enqueue(
        await requestFor(task, input, given, { defaults }),
        contextOf(given),
      );
      return { id: job.id, job, created };
    },
    enqueueMany: async (task, inputs, given = {}) => {
      if (!Array.isArray(inputs)) throw invalidField('inputs', `must be a list, not ${typeof inputs}.`);
      // One id or key cannot be that of many jobs.
      checkNames('enqueueMany()', given, MANY_OPTIONS);
      if (inputs.length === 0) return [];
      const named = inputs.map((input, index) =>
        requestFor(task, input, given, { root: `inputs[${index}]`, defaults }),
      );
      // With ids of our own the answer shows which jobs are ours, and for which one another job stands.
      const requests = (await Promise.all(named)).map((request) => ({ ...request, id: newJobId(clock.now()) }));
      const jobs = await port.jobs.enqueueMany(requests, contextOf(given));
      return jobs.map((job, index) => ({ id: job.id, job, created: job.id === requests[index]!.id }));
    },
    workflow: async (build, options = {}) => {
      const { tenant: whose, within, ...rest } = options;
      const request = builtWorkflow(build, rest);
      const context = { ...(whose !== undefined && { tenant: whose }), ...(within !== undefined && { within }) };
      return connection.workflows.create(request, context);
    },
    schedule: async (task, expression, ...[input, options]) => {
      const { request, context } = scheduleOf(task, expression, input, options);
      return connection.crons.put(request, context);
    },
    wait: async (job: Enqueued | StartedWorkflow | string, given: WaitOptions = {}) => {
      checkWait(given);
      if (isStartedWorkflow(job)) return untilEnded(port, waitClock ?? clock, job, given) as never;
      const id = typeof job === 'string' ? job : job?.id;
      if (typeof id !== 'string') throw invalidField('job', 'must be a job id, or what enqueue() has answered.');
      // What was enqueued for another tenant is waited for there.
      const own = typeof job === 'string' ? undefined : job.job;
      const whose = own === undefined ? {} : { tenant: own.tenant };
      return resultOf(await waits.untilFinished(id, { ...whose, ...given }, own?.queue)) as never;
    },
    work: (tasks, { stopOn = [], ...given } = {}) => {
      if (isClosed) throw new WaybillError('unavailable', 'This connection was closed, and can start no worker.');
      checkStopOn(stopOn);
      const { jobs, events } = port;
      const room = files === undefined ? {} : { maxResultBytes: LARGEST_PAYLOAD, files };
      const whose = tenant === undefined ? {} : { tenant };
      const observed = isInstrumentation(telemetry) && {
        middleware: [telemetry.middleware, ...(given.middleware ?? [])],
      };
      const worker = new Worker({
        clock,
        events,
        logger,
        ...(defaults && { defaults }),
        ...room,
        ...whose,
        ...given,
        ...observed,
        jobs,
        tasks,
      });
      workers.add(worker);
      const stop = () => {
        connection
          .close()
          .catch((error: unknown) => logger.error({ err: error }, 'The connection did not close well.'));
      };
      for (const signal of stopOn) process.once(signal, stop);
      void worker.ended.then(() => {
        workers.delete(worker);
        for (const signal of stopOn) process.off(signal, stop);
      });
      return worker.start();
    },
    close: async () => {
      isClosed = true;
      await Promise.all([...workers].map((worker) => worker.stop()));
      await port.close();
      await files?.close();
    },
  };
  return connection;
}

const MANY_OPTIONS = ENQUEUE_OPTIONS.filter((name) => name !== 'id' && name !== 'idempotencyKey');

/** A signal that nobody ever sends would leave a worker that does not stop. */
function checkStopOn(signals: unknown): void {
  if (!Array.isArray(signals)) throw invalidField('stopOn', "must be a list of signals, such as ['SIGTERM'].");
  const wrong = signals.find((signal) => !STOP_SIGNALS.includes(signal));
  if (wrong === undefined && !signals.includes(undefined)) return;
  const meant = closest(String(wrong), STOP_SIGNALS);
  const rule = meant === undefined ? `It takes ${STOP_SIGNALS.join(', ')}.` : `Did you mean '${meant}'?`;
  throw invalidField('stopOn', `has no signal '${String(wrong).slice(0, 100)}'. ${rule}`);
}

/** What of the options is not about the job itself. */
const contextOf = ({ tenant, idempotencyKey, within }: EnqueueOptions): EnqueueContext => ({
  ...(tenant !== undefined && { tenant }),
  ...(idempotencyKey !== undefined && { idempotencyKey }),
  ...(within !== undefined && { within }),
});
