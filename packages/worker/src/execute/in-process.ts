import { type Clock, type Jobs, type Lease, type Logger, type Outcome, WaybillError } from '@waybill/core';
import { type ContextHooks, RunContext, type TaskContext } from '../context.ts';
import { toJson } from '../jsonified.ts';
import { codeOf } from '../patience.ts';
import { RunReports } from '../run-reports.ts';
import type { AnyTask } from '../task.ts';
import { failureOf } from './failure.ts';
import type { Ended, Validated } from './pipeline.ts';

/** Wraps every handler; `next` runs the next middleware or the handler itself. */
export type Middleware = (
  call: { task: AnyTask; input: unknown; context: TaskContext },
  next: () => Promise<unknown>,
) => Promise<unknown>;

export interface InProcessParts extends ContextHooks {
  jobs: Pick<Jobs, 'report'>;
  clock: Clock;
  logger: Logger;
  workerId: string;
  middleware: readonly Middleware[];
  maxResultBytes: number;
}

/** The worker's end of one run: when it was claimed, by the monotonic clock, and the means to end it. */
export interface RunControl {
  claimedAt: number;
  aborter: AbortController;
}

/** What the server's clock shows: since the claim as much time has passed there as here, however wrong our clock is. */
export const serverNow = ({ job }: Lease, { claimedAt }: Pick<RunControl, 'claimedAt'>, clock: Clock): number =>
  Math.round((job.startedAt ?? clock.now()) + (clock.monotonic() - claimedAt));

/** How long an aborted handler may take to end before somebody hears of it, or, at a stop, before it is requeued. */
export const OBEY_MS = 1_000;

type HandlerEnd = { kind: 'returned'; value: unknown } | { kind: 'thrown'; error: unknown };

/** Runs the handler in this process. In-process code cannot be killed: it is told by its signal, then forgotten. */
export async function inProcess(run: Validated, control: RunControl, parts: InProcessParts): Promise<Ended> {
  const { lease, task, input } = run;
  const { job } = lease;
  const { clock, logger, workerId, onProgress, onLog } = parts;
  const { signal } = control.aborter;
  const reports = new RunReports(lease, parts);
  const context = new RunContext({
    job,
    reports,
    parentResults: lease.parentResults ?? [],
    lastCheckpoint: lease.checkpoint ?? null,
    workerId,
    signal,
    logger,
    serverNow: () => serverNow(lease, control, clock),
    ...(onProgress && { onProgress }),
    ...(onLog && { onLog }),
  });

  let hasEnded = false;
  const handler = call(task, input, context.context, parts.middleware).then((end) => {
    hasEnded = true;
    return end;
  });
  const stopTimer = startTimeout(run, control, clock);
  const abort = watchAbort(signal);
  const end = await Promise.race([handler, abort.came]);
  abort.forget();
  stopTimer();

  const last = signal.aborted ? await obeyed(handler, signal.reason, clock) : end;
  context.close({ goesOn: !hasEnded });
  if (!hasEnded) void watchAbandoned(task, job.id, handler, parts);
  await reports.end();
  if (context.asked !== undefined && last?.kind === 'returned') {
    logger.warn(
      { task: task.name, job: job.id },
      `Task '${task.name}' went on after it had asked for another outcome.`,
    );
  }
  const plain = () => context.asked ?? outcomeOf(last!, parts, task);
  const outcome = signal.aborted ? outcomeOfAborted(signal.reason, last === null ? null : plain) : plain();
  const thrown = context.asked === undefined && last?.kind === 'thrown' ? { thrown: last.error } : {};
  return { stage: 'ended', lease, outcome, ...thrown };
}

/** Never rejects, so that a handler that is not waited for any more cannot end the process. */
async function call(
  task: AnyTask,
  input: unknown,
  context: TaskContext,
  middleware: readonly Middleware[],
): Promise<HandlerEnd> {
  const step = (index: number): Promise<unknown> => {
    const wrap = middleware[index];
    if (wrap) return wrap({ task, input, context }, () => step(index + 1));
    return Promise.resolve(task.run(input, context));
  };
  try {
    return { kind: 'returned', value: await step(0) };
  } catch (error) {
    return { kind: 'thrown', error };
  }
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
    if (!over.signal.aborted) control.aborter.abort(late());
  });
  return () => over.abort(OVER);
}

/** A timer may be shorter than asked for: none lasts longer than 25 days. */
async function sleepUntil(until: number, clock: Clock, over: AbortSignal): Promise<void> {
  while (!over.aborted && clock.monotonic() < until) await clock.sleep(until - clock.monotonic(), over);
}

function watchAbort(signal: AbortSignal): { came: Promise<null>; forget(): void } {
  let tell: () => void = () => {};
  const came = new Promise<null>((resolve) => {
    tell = () => resolve(null);
  });
  if (signal.aborted) tell();
  else signal.addEventListener('abort', tell, { once: true });
  return { came, forget: () => signal.removeEventListener('abort', tell) };
}

/** At a stop the handler gets a moment to end well; a lost or timed-out run is over whatever it does. */
async function obeyed(handler: Promise<HandlerEnd>, reason: unknown, clock: Clock): Promise<HandlerEnd | null> {
  if (codeOf(reason) !== 'unavailable') return null;
  const over = new AbortController();
  const end = await Promise.race([handler, clock.sleep(OBEY_MS, over.signal).then(() => null)]);
  over.abort();
  return end;
}

/** `plain` answers what the handler itself came to, where it obeyed. */
function outcomeOfAborted(reason: unknown, plain: (() => Outcome) | null): Outcome | null {
  switch (codeOf(reason)) {
    case 'timeout':
      return { kind: 'failed', error: { code: 'timeout', type: 'timeout', message: (reason as Error).message } };
    case 'unavailable': {
      const outcome = plain?.();
      if (outcome !== undefined && outcome.kind !== 'failed') return outcome;
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
