import type { Clock, Outcome, WaybillError } from '@waybill/core';
import type { TaskContext } from '../context.ts';
import { codeOf } from '../patience.ts';
import { failureOf } from './failure.ts';
import { type Middleware, wrapped } from './middleware.ts';
import { type HandlerEnd, outcomeOf, outcomeOfAborted } from './outcome.ts';
import type { Ended, Validated } from './pipeline.ts';
import { RunContext, type RunContextParts } from './run-context.ts';
import type { RunControl } from './run-control.ts';
import type { Runner } from './runner.ts';
import { startTimeout } from './timeout.ts';

/** The same for all runs of a runner. */
export interface RunTaskParts extends RunContextParts {
  clock: Clock;
  runner: Runner;
  middleware: readonly Middleware[];
}

/** At a stop, how long an aborted handler may take to end well. Else, how long until a warning says that it goes on. */
export const OBEY_MS = 1_000;

/** How long the pipeline waits at most for a run that a stop has aborted. */
export const obeyMs = ({ abortGraceMs = 0 }: Runner): number => Math.max(OBEY_MS, abortGraceMs);

/** The stage of the pipeline in which the runner runs the handler: until it ends, or must not be waited for any longer. */
export async function runTask(run: Validated, control: RunControl, parts: RunTaskParts): Promise<Ended> {
  const context = new RunContext(run, control, parts);
  // Nothing where the run was aborted before the handler had ended.
  const first = Promise.withResolvers<HandlerEnd | undefined>();
  const handler = call(run, control, context.context, parts, first.resolve);
  const stopTimer = startTimeout(run, control, parts.clock, parts.runner);
  control.onAbort(first.resolve as () => void);
  const end = await first.promise;
  stopTimer();
  // In a function of its own, so that the wait carries no more than it needs.
  if (end === undefined || control.isAborted || context.hasActed) {
    return await endOf(run, control, parts, context, handler, end);
  }
  context.close({ goesOn: false });
  return endedBy(end, run, outcomeOf(end, parts, run.task));
}

/** Never rejects, so that a handler that is not waited for any more cannot end the process. */
async function call(
  run: Validated,
  control: RunControl,
  context: TaskContext,
  { runner, middleware }: RunTaskParts,
  tell: (end: HandlerEnd) => void,
): Promise<HandlerEnd> {
  let end: HandlerEnd;
  try {
    const value = await (middleware.length === 0
      ? runner.run(run, control, context)
      : wrapped({ task: run.task, input: run.input, context, lease: run.lease }, middleware, () =>
          runner.run(run, control, context),
        ));
    end = { kind: 'returned', value };
  } catch (error) {
    end = { kind: 'thrown', error };
  }
  tell(end);
  return end;
}

function endedBy(end: HandlerEnd | null, { lease }: Validated, outcome: Ended['outcome']): Ended {
  const ended: Ended = { stage: 'ended', lease, outcome };
  if (end?.kind === 'thrown') ended.thrown = end.error;
  return ended;
}

/** The end of a run that was aborted, or whose handler did more than return. */
async function endOf(
  run: Validated,
  control: RunControl,
  parts: RunTaskParts,
  context: RunContext,
  handler: Promise<HandlerEnd>,
  end: HandlerEnd | undefined,
): Promise<Ended> {
  const { task, lease } = run;
  const last = control.isAborted ? await obeyed(handler, control.reason, parts) : end!;
  const hasEnded = end !== undefined || last !== null;
  context.close({ goesOn: !hasEnded });
  if (!hasEnded) void watchAbandoned(run, handler, parts);
  const missing = context.hasEntries ? await context.endJournal() : null;
  if (context.asked !== undefined && last?.kind === 'returned') {
    const fields = { task: task.name, job: lease.job.id };
    parts.logger.warn(fields, `Task '${task.name}' went on after it had asked for another outcome.`);
  }
  const came = last === null ? null : (context.asked ?? outcomeOf(last, parts, task));
  const plain = missing && !context.isCompletedWithin ? withoutCritical(came, missing) : came;
  const outcome = control.isAborted ? outcomeOfAborted(control.reason, plain) : plain;
  const ended = endedBy(context.asked === undefined ? last : null, run, outcome);
  if (context.isCompletedWithin && outcome?.kind === 'completed') ended.isSettled = true;
  if (context.waitsFor !== undefined && outcome?.kind === 'snoozed') ended.waitsFor = context.waitsFor;
  return ended;
}

/** A failure of the handler stands: that something could not be told of it must not hide it. */
const withoutCritical = (outcome: Outcome | null, missing: WaybillError): Outcome | null =>
  outcome === null || outcome.kind === 'failed' ? outcome : { kind: 'failed', error: failureOf(missing) };

/**
 * How an aborted run ended; null where it did not in the time that it has. At a stop the handler gets a moment to end
 * well. A lost or timed-out run is over whatever its handler does, so only the runner's own promise is waited for.
 */
async function obeyed(
  handler: Promise<HandlerEnd>,
  reason: unknown,
  { clock, runner }: RunTaskParts,
): Promise<HandlerEnd | null> {
  const ms = codeOf(reason) === 'unavailable' ? obeyMs(runner) : (runner.abortGraceMs ?? 0);
  if (ms === 0) return null;
  const over = new AbortController();
  const end = await Promise.race([handler, clock.sleep(ms, over.signal).then(() => null)]);
  over.abort();
  return end;
}

async function watchAbandoned(
  { task, lease }: Validated,
  handler: Promise<HandlerEnd>,
  { clock, logger, runner }: RunTaskParts,
): Promise<void> {
  const since = clock.monotonic();
  const over = new AbortController();
  const ended = handler.then(() => over.abort());
  await Promise.race([ended, clock.sleep(OBEY_MS, over.signal)]);
  if (over.signal.aborted) return;
  const fields = { task: task.name, job: lease.job.id };
  const { name, abortGraceMs = 0 } = runner;
  const why =
    abortGraceMs === 0
      ? 'it does not heed context.signal'
      : `runner '${name}' did not end it within the ${abortGraceMs} ms of its abortGraceMs`;
  logger.warn(fields, `Task '${task.name}' goes on although its run is over: ${why}.`);
  await ended;
  const ms = Math.round(clock.monotonic() - since);
  logger.warn(fields, `Task '${task.name}' ended ${ms} ms after its run; what it came to is dropped.`);
}
