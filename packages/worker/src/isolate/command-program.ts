import { randomUUID } from 'node:crypto';
import type { Json } from '@waybill/core';
import { RunFailure } from '../execute/failure.ts';
import { InvalidResult } from '../execute/outcome.ts';
import { toJson } from '../jsonified.ts';
import type { ContainedProcess, ProcessEnd } from './contained.ts';
import { environmentOf } from './environment.ts';
import type { ResolvedIsolate } from './isolate-options.ts';
import type { IsolatedProgram } from './isolated-program.ts';
import { type RunHandover, runVariables } from './isolated-program.ts';
import { limitsOf } from './limits-of.ts';
import { PrintedResult } from './printed-result.ts';
import { readResultFile } from './result-file.ts';
import { processFailure } from './run-failure.ts';
import { makeRunFolder, type RunFolder } from './run-folder.ts';

/** Any program: its input is JSON on stdin, its result what it writes to a file, else its stdout. */
export class CommandProgram implements IsolatedProgram {
  shown = 'command';
  readonly activity = 'output';
  readonly #callFor: NonNullable<ResolvedIsolate['command']>;
  #printed: PrintedResult | undefined;
  #maxResultBytes = 0;
  #folder: RunFolder | undefined;

  constructor(callFor: NonNullable<ResolvedIsolate['command']>) {
    this.#callFor = callFor;
  }

  async start(run: RunHandover): Promise<ContainedProcess> {
    const { isolate, parts, hooks } = run;
    const call = this.#callFor(run.input.value);
    const input = textOf(call.input === undefined ? run.input.value : call.input, run);
    this.shown = call.command[0];
    this.#maxResultBytes = parts.maxResultBytes;
    const printed = new PrintedResult(parts.maxResultBytes);
    this.#printed = printed;
    this.#folder = await makeRunFolder(input, undefined, isolate.user);
    const { home, config, temp, inputFile, resultFile } = this.#folder;
    const cwd = call.cwd ?? isolate.cwd ?? process.cwd();
    const env = environmentOf({ ...isolate, worker: process.env, own: { home, config, temp, cwd } });
    const files = { WAYBILL_INPUT_FILE: inputFile, WAYBILL_RESULT_FILE: resultFile };
    const { startContained } = await import('./process/start-contained.ts');
    return startContained(
      {
        ...{ command: call.command, cwd, mark: randomUUID(), stdin: input, limits: limitsOf(run) },
        ...(isolate.user !== null && { user: isolate.user }),
        ...(parts.cgroup !== undefined && { cgroup: parts.cgroup }),
        env: { ...env, ...runVariables(run), ...files },
      },
      {
        onOutput: (chunk, stream) => {
          if (stream === 'stdout') printed.add(chunk);
          hooks.onOutput?.(chunk, stream);
        },
      },
    );
  }

  abort(): boolean {
    return false;
  }

  async result(end: ProcessEnd): Promise<Json> {
    if (end.outcome !== 'exited') throw processFailure(end, { code: end.outcome, message: end.message });
    const written = await readResultFile(this.#folder!.resultFile, this.#maxResultBytes);
    return written === null ? this.#printed!.value() : read(written);
  }

  async clear(): Promise<void> {
    await this.#folder?.remove();
  }
}

/** What the schema of the task has made of the input, as JSON writes it: a Date becomes a text. */
function textOf(input: unknown, { task }: RunHandover): string {
  const carried = toJson(input);
  if (carried.ok) return JSON.stringify(carried.value);
  const message = `The input of task '${task.name}' cannot be given to a program as JSON: ${carried.problem}.`;
  throw new RunFailure({ code: 'invalid_payload', type: 'invalid_payload', message, retryable: false });
}

function read(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    throw new InvalidResult(`$WAYBILL_RESULT_FILE has no JSON document: ${(error as Error).message}`);
  }
}
