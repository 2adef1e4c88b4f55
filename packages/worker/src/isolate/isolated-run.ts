import { isDeepStrictEqual } from 'node:util';
import { type Job, type Json, withoutSecrets } from '@waybill/core';
import type { TaskContext } from '../context.ts';
import { Ending } from '../execute/ending.ts';
import type { Validated } from '../execute/pipeline.ts';
import type { ReadonlyRunControl } from '../execute/runner.ts';
import { toJson } from '../jsonified.ts';
import { codeOf } from '../patience.ts';
import { inputOf } from '../task.ts';
import { type ContainedProcess, type EndCause, type ProcessEnd, WORKER_STOPPED } from './contained.ts';
import type { ResolvedIsolate } from './isolate-options.ts';
import type { IsolatedProgram, IsolationParts, RunHandover, RunInput } from './isolated-program.ts';
import { OutputLog } from './output-log.ts';
import { LONGEST_TIMER_MS } from './process/quantities.ts';
import { factsOf } from './run-failure.ts';
import { Vitals } from './vitals.ts';

/** One run in a process of its own, from its start to its result. */
export async function runIsolated(
  { lease, task, input }: Validated,
  control: ReadonlyRunControl,
  context: TaskContext,
  isolate: ResolvedIsolate,
  program: IsolatedProgram,
  parts: IsolationParts,
): Promise<unknown> {
  const { job } = lease;
  const output = new OutputLog(parts.logger, { task: task.name, job: job.id, run: job.run }, parts.label(job));
  const handover: RunHandover = {
    ...{ lease, task, context, isolate, parts },
    input: runInput(inputOf(job), input),
    hooks: {
      onOutput: (chunk, stream) => {
        context.output(chunk, { stream });
        output.add(chunk, stream);
      },
    },
  };
  try {
    const running = await program.start(handover);
    void context.emit('process.started', { pid: running.pid, command: program.shown });
    const vitals = new Vitals(running, program, context, control, keptForMs(job, parts));
    const stopWatching = endOnAbort(running, control, program, parts);
    const stopTimer = endOnTimeout(running, isolate, program, parts);
    const end = await running.ended;
    stopTimer();
    stopWatching();
    vitals.end();
    output.end();
    if (end.outcome === WORKER_STOPPED) parts.logger.warn({ task: task.name, job: job.id, run: job.run }, end.message);
    return await told(end, context, () => program.result(end));
  } finally {
    await cleared(program, parts, { task: task.name, job: job.id, run: job.run });
  }
}

/** The lease of a job that was claimed is in its row; else the usual one. */
const LEASE_MS = 30_000;

/** A worker that is alive ends a run which has lost its lease by itself, step by step, and comes first. */
const keptForMs = ({ leaseMs }: Job, { abortMs, killAfterMs }: IsolationParts): number =>
  (leaseMs ?? LEASE_MS) + abortMs + killAfterMs;

/** Without a schema both are the same. */
function runInput(raw: unknown, value: unknown): RunInput {
  const input = { raw: (raw as Json | undefined) ?? null, value: value ?? null };
  if (value === raw) return { ...input, made: input.raw };
  const carried = toJson(value);
  return { ...input, made: carried.ok && isDeepStrictEqual(carried.value, input.value) ? carried.value : undefined };
}

/** A run may leave what its worker cannot remove, such as files of another user. What it came to stands all the same. */
async function cleared(program: IsolatedProgram, { logger }: IsolationParts, fields: object): Promise<void> {
  try {
    await program.clear();
  } catch (error) {
    logger.warn({ ...fields, err: error }, 'Could not remove the folder of an isolated run. Remove it by hand.');
  }
}

/** The journal tells how the process ended before the run fails or completes. */
async function told(end: ProcessEnd, context: TaskContext, result: () => Promise<unknown>): Promise<unknown> {
  const facts = factsOf(end);
  const emit = (name: string, data: object) => void context.emit(name, data).catch(() => {});
  try {
    const value = await result();
    emit('process.ended', facts);
    return value;
  } catch (error) {
    // Put off, cancelled or discarded by its handler, which is no failure of the process.
    if (error instanceof Ending) emit('process.ended', facts);
    else emit('process.failed', { ...facts, message: end.message, last_output: withoutSecrets(end.lastOutput) });
    throw error;
  }
}

function endOnAbort(
  running: ContainedProcess,
  control: ReadonlyRunControl,
  program: IsolatedProgram,
  { abortMs, stopMs }: IsolationParts,
): () => void {
  const { signal } = control;
  const abort = () => {
    const code = codeOf(control.reason) ?? 'internal';
    const wasAsked = program.abort(code, (control.reason as Error).message);
    const isHurried = code === 'unavailable' && stopMs !== null;
    running.end(causeOf(code), wasAsked ? (isHurried ? stopMs / 2 : abortMs) : 0);
    if (isHurried) killAfter(running, stopMs);
  };
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return () => signal.removeEventListener('abort', abort);
}

/** A process manager does not wait for the usual steps. */
function killAfter(running: ContainedProcess, ms: number): void {
  const timer = setTimeout(() => running.kill('cancelled'), Math.min(ms, LONGEST_TIMER_MS));
  void running.ended.then(() => clearTimeout(timer));
}

const causeOf = (code: string): EndCause =>
  code === 'timeout' ? 'timeout' : code === 'unavailable' ? 'cancelled' : 'lost';

function endOnTimeout(
  running: ContainedProcess,
  { timeoutMs }: ResolvedIsolate,
  program: IsolatedProgram,
  { abortMs }: IsolationParts,
): () => void {
  if (timeoutMs === null) return () => {};
  const timer = setTimeout(
    () => {
      const wasAsked = program.abort('timeout', `The process exceeded its timeout of ${timeoutMs} ms.`);
      running.end('timeout', wasAsked ? abortMs : 0);
    },
    Math.min(timeoutMs, LONGEST_TIMER_MS),
  );
  return () => clearTimeout(timer);
}
