import {
  type Clock,
  type Jobs,
  type Lease,
  type Logger,
  type Outcome,
  type Transaction,
  WaybillError,
} from '@waybill/core';
import { type ContextCalls, type ContextHooks, RunContext, type TaskContext } from '../context.ts';
import { toJson } from '../jsonified.ts';
import { codeOf } from '../patience.ts';
import type { AnyTask } from '../task.ts';
import { failureOf } from './failure.ts';
import type { Ended, Validated } from './pipeline.ts';
import type { RunControl } from './run-control.ts';

/** Wraps every handler; `next` runs the next middleware or the handler itself. */
export type Middleware = (
  call: { task: AnyTask; input: unknown; context: TaskContext },
  next: () => Promise<unknown>,
) => Promise<unknown>;

export interface InProcessParts extends ContextHooks {
  jobs: Pick<Jobs, 'report' | 'settle'>;
  clock: Clock;
  logger: Logger;
  workerId: string;
  middleware: readonly Middleware[];
  maxResultBytes: number;
}

/** What the server's clock shows: since the claim as much time has passed there as here, however wrong our clock is. */
export const serverNow = ({ job }: Lease, { claimedAt }: Pick<RunControl, 'claimedAt'>, clock: Clock): number =>
  Math.round((job.startedAt ?? clock.now()) + (clock.monotonic() - claimedAt));

/** How long an aborted handler may take to end before somebody hears of it, or, at a stop, before it is requeued. */
export const OBEY_MS = 1_000;

type HandlerEnd = { kind: 'returned'; value: unknown } | { kind: 'thrown'; error: unknown };

type Context = RunContext<Validated, InProcessParts>;

/** Runs the handler in this process. In-process code cannot be killed: it is told by its signal, then forgotten. */
export async function inProcess(run: Validated, control: RunControl, parts: InProcessParts): Promise<Ended> {
  const context = new RunContext(run, control, parts, CALLS);
  // Nothing where the run was aborted before the handler had ended.
  const first = Promise.withResolvers<HandlerEnd | undefined>();
  const handler = call(run, context.context, parts.middleware, first.resolve);
  const stopTimer = startTimeout(run, control, parts.clock);
  control.onAbort(first.resolve as () => void);
  const end = await first.promise;
  stopTimer();
  // In a function of its own, so that the wait carries no more than it needs.
  if (end === undefined || control.isAborted || context.hasSpoken) {
    return await endOf(run, control, parts, context, handler, end);
  }
  context.close({ goesOn: false });
  return endedBy(end, run, outcomeOf(end, parts, run.task));
}

function endedBy(end: HandlerEnd | null, { lease }: Validated, outcome: Outcome | null): Ended {
  const ended: Ended = { stage: 'ended', lease, outcome };
  if (end?.kind === 'thrown') ended.thrown = end.error;
  return ended;
}

/** The end of a run that was aborted, or whose handler did more than return. */
async function endOf(
  run: Validated,
  control: RunControl,
  parts: InProcessParts,
  context: Context,
  handler: Promise<HandlerEnd>,
  end: HandlerEnd | undefined,
): Promise<Ended> {
  const { task, lease } = run;
  const fields = { task: task.name, job: lease.job.id };
  const last = control.isAborted ? await obeyed(handler, control.reason, parts.clock) : end!;
  const hasEnded = end !== undefined || last !== null;
  context.close({ goesOn: !hasEnded });
  if (!hasEnded) void watchAbandoned(task, lease.job.id, handler, parts);
  if (context.hasReported) await context.lastReport();
  if (context.asked !== undefined && last?.kind === 'returned') {
    parts.logger.warn(fields, `Task '${task.name}' went on after it had asked for another outcome.`);
  }
  const plain = last === null ? null : (context.asked ?? outcomeOf(last, parts, task));
  const outcome = control.isAborted ? outcomeOfAborted(control.reason, plain) : plain;
  const ended = endedBy(context.asked === undefined ? last : null, run, outcome);
  if (context.isCompletedWithin && outcome?.kind === 'completed') ended.isSettled = true;
  return ended;
}

const CALLS: ContextCalls<Validated, InProcessParts> = {
  now: ({ lease }, control, { clock }) => serverNow(lease, control, clock),
  complete: completeWithin,
};

/** What the handler's own transaction completes is what a return would have completed, and is refused for the same. */
async function completeWithin(
  { lease, task }: Validated,
  result: unknown,
  within: Transaction,
  parts: InProcessParts,
): Promise<void> {
  const { job, token } = lease;
  const outcome = outcomeOf({ kind: 'returned', value: result }, parts, task);
  if (outcome.kind === 'failed') throw new WaybillError('invalid_request', outcome.error.message);
  await parts.jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome, within });
}

/** Never rejects, so that a handler that is not waited for any more cannot end the process. */
async function call(
  run: Validated,
  context: TaskContext,
  middleware: readonly Middleware[],
  tell: (end: HandlerEnd) => void,
): Promise<HandlerEnd> {
  let end: HandlerEnd;
  try {
    const value = await (middleware.length === 0
      ? run.task.run(run.input, context)
      : wrapped(run, context, middleware));
    end = { kind: 'returned', value };
  } catch (error) {
    end = { kind: 'thrown', error };
  }
  tell(end);
  return end;
}

function wrapped(
  { task, input }: Validated,
  context: TaskContext,
  middleware: readonly Middleware[],
): Promise<unknown> {
  const step = async (index: number): Promise<unknown> => {
    const wrap = middleware[index];
    return wrap ? wrap({ task, input, context }, () => step(index + 1)) : task.run(input, context);
  };
  return step(0);
}

/** Given as the reason of our own signals: without one, each abort makes an exception that nobody looks at. */
const OVER = 'over';
const noTimer = () => {};

/** Counted from the claim, as the server does; a job that names no timeout gets its task's, from now. */
function startTimeout({ lease: { job }, task }: Validated, control: RunControl, clock: Clock): () => void {
  const ms = job.timeoutMs ?? task.policy.timeout ?? null;
  if (ms === null) return noTimer;
  const until = (job.timeoutMs === null ? clock.monotonic() : control.claimedAt) + ms;
  const over = new AbortController();
  const late = () => new WaybillError('timeout', `Task '${task.name}' exceeded its timeout of ${ms} ms.`);
  void sleepUntil(until, clock, over.signal).then(() => {
    if (!over.signal.aborted) control.abort(late());
  });
  return () => over.abort(OVER);
}

/** A timer may be shorter than asked for: none lasts longer than 25 days. */
async function sleepUntil(until: number, clock: Clock, over: AbortSignal): Promise<void> {
  while (!over.aborted && clock.monotonic() < until) await clock.sleep(until - clock.monotonic(), over);
}

/** At a stop the handler gets a moment to end well; a lost or timed-out run is over whatever it does. */
async function obeyed(handler: Promise<HandlerEnd>, reason: unknown, clock: Clock): Promise<HandlerEnd | null> {
  if (codeOf(reason) !== 'unavailable') return null;
  const over = new AbortController();
  const end = await Promise.race([handler, clock.sleep(OBEY_MS, over.signal).then(() => null)]);
  over.abort();
  return end;
}

/** `plain` is what the handler itself came to, where it obeyed. */
function outcomeOfAborted(reason: unknown, plain: Outcome | null): Outcome | null {
  switch (codeOf(reason)) {
    case 'timeout':
      return { kind: 'failed', error: { code: 'timeout', type: 'timeout', message: (reason as Error).message } };
    case 'unavailable': {
      if (plain !== null && plain.kind !== 'failed') return plain;
      return { kind: 'requeued', error: { code: 'worker_stopped', message: (reason as Error).message } };
    }
    default:
      return null;
  }
}

function outcomeOf(end: HandlerEnd, { logger, maxResultBytes }: InProcessParts, task: AnyTask): Outcome {
  if (end.kind === 'thrown') {
    if (!(end.error instanceof Error)) logger.warn({ task: task.name }, `Task '${task.name}' threw no Error.`);
    return { kind: 'failed', error: failureOf(end.error) };
  }
  const answer = toJson(end.value);
  if (answer.ok && answer.bytes <= maxResultBytes) return { kind: 'completed', result: answer.value };
  const [code, problem] = answer.ok
    ? ['payload_too_large', `is ${answer.bytes} bytes of JSON, more than ${maxResultBytes}`]
    : ['invalid_result', `is not JSON: ${answer.problem}`];
  const message = `What task '${task.name}' returned ${problem}.`;
  logger.warn({ task: task.name }, message);
  // Its work is done; done again it would only return the same.
  return { kind: 'failed', error: { code, type: code, message, retryable: false } };
}

async function watchAbandoned(
  task: AnyTask,
  job: string,
  handler: Promise<HandlerEnd>,
  { clock, logger }: InProcessParts,
): Promise<void> {
  const since = clock.monotonic();
  const over = new AbortController();
  const ended = handler.then(() => over.abort());
  await Promise.race([ended, clock.sleep(OBEY_MS, over.signal)]);
  if (over.signal.aborted) return;
  const fields = { task: task.name, job };
  logger.warn(fields, `Task '${task.name}' goes on although its run is over: it does not heed context.signal.`);
  await ended;
  const ms = Math.round(clock.monotonic() - since);
  logger.warn(fields, `Task '${task.name}' ended ${ms} ms after its run; what it came to is dropped.`);
}
