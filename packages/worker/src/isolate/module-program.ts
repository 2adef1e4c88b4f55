import type { JsonObject } from '@waybill/core';
import type { TaskContext } from '../context.ts';
import { InvalidResult } from '../execute/outcome.ts';
import {
  type ChannelError,
  type ChildEnd,
  channelError,
  errorFrom,
  type FromChild,
  isEnd,
  lineOf,
  readLine,
} from './channel.ts';
import { type CalledRun, callRun, isCallName } from './child-calls.ts';
import type { ContainedProcess, ProcessEnd } from './contained.ts';
import { FileTransfer } from './file-transfer.ts';
import { shownModule } from './isolate-options.ts';
import type { IsolatedProgram } from './isolated-program.ts';
import { type RunHandover, runVariables } from './isolated-program.ts';
import type { ModuleProcess, ModuleProcesses } from './module-process.ts';
import { processFailure } from './run-failure.ts';

/** A module in a Node process of its own, which speaks with the worker line by line. */
export class ModuleProgram implements IsolatedProgram {
  readonly shown: string;
  activity = 'started';
  readonly #processes: ModuleProcesses;
  #running: ModuleProcess | undefined;
  #run: CalledRun | undefined;
  #end: ChildEnd | undefined;
  #isBroken = false;

  constructor(module: string, processes: ModuleProcesses) {
    this.shown = shownModule(module);
    this.#processes = processes;
  }

  async start(run: RunHandover): Promise<ContainedProcess> {
    const { context, input } = run;
    this.#run = { context, files: new FileTransfer(() => context.files) };
    const running = await this.#processes.take(run);
    this.#running = running;
    running.attach({ ...run.hooks, onLine: (line) => this.#hear(line, running.process) });
    const { job, attempt, maxAttempts, workerId, parentResults, revision, lastCheckpoint } = context;
    const facts = {
      ...{ job: job as unknown as JsonObject, attempt, maxAttempts, workerId, revision, lastCheckpoint },
      parentResults: [...parentResults],
      env: runVariables(run),
    };
    const isMade = input.made !== undefined;
    running.process.send(lineOf({ kind: 'run', input: input.made ?? input.raw, isMade, facts }));
    return running.process;
  }

  abort(code: string, message: string): boolean {
    this.#running?.process.send(lineOf({ kind: 'abort', code, message }));
    return true;
  }

  async result(end: ProcessEnd): Promise<unknown> {
    const said = this.#end;
    // What broke a limit has failed, whatever its handler came to before it noticed.
    if (said === undefined || isLimit(end)) throw this.#failure(end);
    switch (said.kind) {
      case 'returned':
        return said.value;
      case 'foreign':
        throw new InvalidResult(said.problem);
      case 'threw-value':
        throw said.value;
      case 'snooze':
        return this.#context.snooze(said.until === undefined ? said.ms! : new Date(said.until));
      case 'waiting':
        // The context has noted the question, which stands before what comes later.
        return this.#context.snooze(0);
      case 'discard':
        return this.#context.discard(said.reason);
      case 'cancel':
        return this.#context.cancel(said.reason);
      case 'threw':
        throw errorFrom(said.error);
    }
  }

  async clear(): Promise<void> {
    await this.#running?.clear();
  }

  get #context(): TaskContext {
    return this.#run!.context;
  }

  /** Answers a promise where the line is a call that is still under way. */
  #hear(line: string, process: ContainedProcess): Promise<void> | undefined {
    const message = readLine(line);
    // Behind its end, or behind what was no message, a process has nothing to say that counts.
    if (this.#end !== undefined || this.#isBroken) return undefined;
    if (message === null) {
      this.#isBroken = true;
      process.kill('invalid_result');
      return undefined;
    }
    this.activity = nameOf(message);
    if (message.kind === 'call') return this.#call(message, process);
    if (isEnd(message)) this.#end = message;
    return undefined;
  }

  /**
   * Code of the user's own may have written the line, so a call that makes no sense is answered, where there is one to answer,
   * and ends nothing.
   */
  async #call({ call, given, id }: Extract<FromChild, { kind: 'call' }>, process: ContainedProcess): Promise<void> {
    try {
      if (!isCallName(call)) throw new TypeError(`There is no call '${call}'.`);
      const value = await callRun(call, given, this.#run!);
      if (id !== undefined) process.send(lineOf({ kind: 'answer', id, value }));
    } catch (error) {
      const shown = shownError(error);
      if (id !== undefined) process.send(lineOf({ kind: 'answer', id, error: shown }));
      else
        this.#context.log(
          'A message of the isolated process was refused.',
          { reason: shown.message },
          { level: 'warn' },
        );
    }
  }

  #failure(end: ProcessEnd): Error {
    if (end.outcome === 'exited') {
      const message =
        'The process ended with exit code 0 before its handler had returned. Does it call process.exit()?';
      return processFailure(end, { code: 'invalid_result', message, retryable: false });
    }
    if (this.#isBroken) {
      const message = 'The process wrote to descriptor 3, which is the channel of Waybill. Write to stdout or stderr.';
      return processFailure(end, { code: 'invalid_result', message, retryable: false });
    }
    return processFailure(end, { code: end.outcome, message: end.message });
  }
}

const LIMITS: readonly ProcessEnd['outcome'][] = ['oom', 'cpu_limit', 'output_limit', 'timeout'];
const isLimit = ({ outcome }: ProcessEnd): boolean => LIMITS.includes(outcome);

/** An entry has a name of its own. */
function nameOf(message: FromChild): string {
  if (message.kind !== 'call') return message.kind;
  const { name } = (message.given ?? {}) as { name?: unknown };
  return message.call === 'emit' && typeof name === 'string' ? name : message.call;
}

const shownError = (error: unknown): ChannelError =>
  error instanceof Error ? channelError(error) : { name: 'Error', message: String(error) };
