import { fileURLToPath, pathToFileURL } from 'node:url';
import { checkNames, isObject, type Json, WaybillError } from '@waybill/core';

/** How a task runs in a process of its own, and what that process may use. */
export interface IsolateOptions {
  /**
   * A module that Node loads in the process, as a path or a `file:` URL; mostly `import.meta.url`. It exports the task of this
   * name, whose `run` is called there, or a handler as its default.
   */
  module?: string | URL;
  /** A program and its arguments, or a function of the input that answers them. It gets the input as JSON on stdin. */
  command?: Command | ((input: never) => Command | CommandCall);
  /** @defaultValue that of the worker */
  cwd?: string;
  /** Milliseconds that the process may run. @defaultValue no limit of its own */
  timeout?: number;
  /** Megabytes of resident memory, of the process and all that it starts. @defaultValue no limit */
  memoryMb?: number;
  /** Seconds of processor time, of the process and all that it starts. @defaultValue no limit */
  cpuSeconds?: number;
  /** Bytes of stdout and stderr together. @defaultValue 67_108_864 */
  maxOutputBytes?: number;
  /** Variables of its environment. @defaultValue none but those that are inherited */
  env?: Readonly<Record<string, string>>;
  /**
   * Variables of the worker that it gets, besides those that it always gets (docs/isolation.md); `LC_*` names all that begin so.
   * `false`: none, not even those. @defaultValue []
   */
  inheritEnv?: readonly string[] | false;
  /** Processes of a module that are started and loaded ahead of need, each for one run. @defaultValue 0 */
  warm?: number;
}

export type Command = readonly [string, ...string[]];

/** A program for one run. */
export interface CommandCall {
  command: Command;
  /** @defaultValue that of the task */
  cwd?: string;
  /** What it gets on stdin, as JSON. @defaultValue the input of the job */
  input?: Json;
}

export interface ResolvedIsolate {
  /** As a `file:` URL. */
  module: string | null;
  command: ((input: unknown) => CommandCall) | null;
  cwd: string | null;
  timeoutMs: number | null;
  memoryBytes: number | null;
  cpuMs: number | null;
  maxOutputBytes: number;
  env: Readonly<Record<string, string>>;
  inheritEnv: readonly string[] | false;
  warm: number;
}

const NAMES: Readonly<Record<keyof IsolateOptions, true>> = {
  ...{ module: true, command: true, cwd: true, timeout: true, memoryMb: true, cpuSeconds: true },
  ...{ maxOutputBytes: true, env: true, inheritEnv: true, warm: true },
};
/** Every name of the option `isolate`. */
export const ISOLATE_NAMES: readonly string[] = Object.keys(NAMES);

const MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024;
const MAX_WARM = 100;
const VARIABLE = /^[^=\0]+$/;

/** Refuses what cannot work where the task is defined. `owner` says whose options these are. */
export function checkIsolate(owner: string, isolate: IsolateOptions): void {
  checkNames(`${owner}: 'isolate'`, isolate, ISOLATE_NAMES);
  const { module, command, cwd, env, inheritEnv } = isolate;
  if ((module === undefined) === (command === undefined))
    throw refuse(owner, 'isolate', "an object with either 'module' or 'command'");
  if (module !== undefined) checkModule(owner, module);
  if (command !== undefined && typeof command !== 'function' && !isCommand(command))
    throw refuse(owner, 'isolate.command', "a list of the program and its arguments, such as ['python3', 'step.py']");
  if (cwd !== undefined && (typeof cwd !== 'string' || cwd === ''))
    throw refuse(owner, 'isolate.cwd', 'the path of a folder');
  checkNumbers(owner, isolate);
  if (env !== undefined && !isEnvironment(env))
    throw refuse(owner, 'isolate.env', 'an object of texts, without NUL characters');
  if (inheritEnv !== undefined && inheritEnv !== false && !isNameList(inheritEnv))
    throw refuse(owner, 'isolate.inheritEnv', "false, or a list of names such as ['DATABASE_URL', 'LC_*']");
  if (isolate.warm !== undefined && isolate.warm > 0 && module === undefined)
    throw refuse(owner, 'isolate.warm', "left out for a 'command': only a 'module' can be loaded ahead of its run");
}

export function resolveIsolate(isolate: IsolateOptions): ResolvedIsolate {
  const { module, command, cwd, timeout, memoryMb, cpuSeconds, maxOutputBytes, env, inheritEnv, warm } = isolate;
  return {
    module: module === undefined ? null : urlOf(module),
    command: command === undefined ? null : callOf(command),
    cwd: cwd ?? null,
    timeoutMs: timeout ?? null,
    memoryBytes: memoryMb === undefined ? null : Math.ceil(memoryMb * 1_024 * 1_024),
    cpuMs: cpuSeconds === undefined ? null : Math.ceil(cpuSeconds * 1_000),
    maxOutputBytes: maxOutputBytes ?? MAX_OUTPUT_BYTES,
    env: env ?? {},
    inheritEnv: inheritEnv ?? [],
    warm: warm ?? 0,
  };
}

function checkNumbers(owner: string, { timeout, memoryMb, cpuSeconds, maxOutputBytes, warm }: IsolateOptions): void {
  if (timeout !== undefined && !(Number.isSafeInteger(timeout) && timeout > 0))
    throw refuse(owner, 'isolate.timeout', `whole milliseconds above 0, not ${shown(timeout)}`);
  if (memoryMb !== undefined && !(Number.isFinite(memoryMb) && memoryMb >= 1))
    throw refuse(owner, 'isolate.memoryMb', `megabytes from 1 on, not ${shown(memoryMb)}`);
  if (cpuSeconds !== undefined && !(Number.isFinite(cpuSeconds) && cpuSeconds > 0))
    throw refuse(owner, 'isolate.cpuSeconds', `seconds above 0, not ${shown(cpuSeconds)}`);
  if (maxOutputBytes !== undefined && !(Number.isSafeInteger(maxOutputBytes) && maxOutputBytes >= 0))
    throw refuse(owner, 'isolate.maxOutputBytes', `whole bytes from 0 on, not ${shown(maxOutputBytes)}`);
  if (warm !== undefined && !(Number.isSafeInteger(warm) && warm >= 0 && warm <= MAX_WARM))
    throw refuse(owner, 'isolate.warm', `an integer from 0 to ${MAX_WARM}, not ${shown(warm)}`);
}

function checkModule(owner: string, module: unknown): void {
  const isUrl = module instanceof URL ? module.protocol === 'file:' : typeof module === 'string' && module !== '';
  if (!isUrl || /^(?!file:)[a-z]{2,}:/i.test(String(module)))
    throw refuse(owner, 'isolate.module', 'a path or a file: URL, such as import.meta.url');
}

/** A function is the task's own code, so what it answers is looked at. */
function callOf(command: NonNullable<IsolateOptions['command']>): (input: unknown) => CommandCall {
  if (typeof command !== 'function') return () => ({ command });
  return (input) => {
    const answer: Command | CommandCall = command(input as never);
    const call: CommandCall = isObject(answer) ? (answer as unknown as CommandCall) : { command: answer as Command };
    if (isCommand(call.command)) return call;
    throw new WaybillError(
      'invalid_request',
      'The function isolate.command() must answer the program and its arguments.',
    );
  };
}

/** A relative path would depend on the folder that the worker was started in, so it is read against that at once. */
function urlOf(module: string | URL): string {
  const text = String(module);
  return text.startsWith('file:') ? text : pathToFileURL(text).href;
}

/** For messages. */
export const shownModule = (url: string): string => fileURLToPath(url);

const isCommand = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.every((part) => typeof part === 'string' && !part.includes('\0')) &&
  value[0] !== '';

const isEnvironment = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries(value).every(
    ([name, text]) => VARIABLE.test(name) && typeof text === 'string' && !text.includes('\0'),
  );

const isNameList = (value: unknown): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === 'string' && VARIABLE.test(name));

const shown = (value: unknown): string => (typeof value === 'string' ? `'${value.slice(0, 100)}'` : String(value));

const refuse = (owner: string, name: string, rule: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${name}' must be ${rule}.`, { details: { field: name } });
