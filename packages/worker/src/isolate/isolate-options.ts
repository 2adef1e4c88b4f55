import { fileURLToPath, pathToFileURL } from 'node:url';
import { isObject, type Json, WaybillError } from '@waybill/core';
import { checkOptions, numberWhere, type OptionRules, textOf, wholeFrom } from './option-rules.ts';

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
  /** The user and the group that the process runs as. Only a worker that is root can choose. @defaultValue those of the worker */
  user?: { uid: number; gid: number };
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
  user: { uid: number; gid: number } | null;
  timeoutMs: number | null;
  memoryBytes: number | null;
  cpuMs: number | null;
  maxOutputBytes: number;
  env: Readonly<Record<string, string>>;
  inheritEnv: readonly string[] | false;
  warm: number;
}

const MAX_OUTPUT_BYTES = 64 * 1_024 * 1_024;
const MAX_WARM = 100;
const MAX_ID = 4_294_967_294;
const VARIABLE = /^[^=\0]+$/;

const RULES: OptionRules<IsolateOptions> = {
  module: { must: 'a path or a file: URL, such as import.meta.url', accepts: isModule },
  command: {
    must: "a list of the program and its arguments, such as ['python3', 'step.py']",
    accepts: (value) => typeof value === 'function' || isCommand(value),
  },
  cwd: textOf('the path of a folder'),
  user: { must: 'the numbers of a user and its group, such as { uid: 1000, gid: 1000 }', accepts: isUser },
  timeout: wholeFrom(1, 'whole milliseconds above 0'),
  memoryMb: numberWhere((value) => value >= 1, 'megabytes from 1 on'),
  cpuSeconds: numberWhere((value) => value > 0, 'seconds above 0'),
  maxOutputBytes: wholeFrom(0, 'whole bytes from 0 on'),
  env: { must: 'an object of texts, without NUL characters', accepts: isEnvironment },
  inheritEnv: {
    must: "false, or a list of names such as ['DATABASE_URL', 'LC_*']",
    accepts: (value) => value === false || isNameList(value),
  },
  warm: wholeFrom(0, `an integer from 0 to ${MAX_WARM}`, MAX_WARM),
};

/** Refuses what cannot work where the task is defined. `owner` says whose options these are. */
export function checkIsolate(owner: string, isolate: IsolateOptions): void {
  checkOptions(owner, isolate, RULES, 'isolate');
  const { module, command, warm = 0 } = isolate;
  if ((module === undefined) === (command === undefined))
    throw refuse(owner, 'isolate', "an object with either 'module' or 'command'");
  if (warm > 0 && module === undefined)
    throw refuse(owner, 'isolate.warm', "left out for a 'command': only a 'module' can be loaded ahead of its run");
}

export function resolveIsolate(isolate: IsolateOptions): ResolvedIsolate {
  const { module, command, cwd, user, timeout, memoryMb, cpuSeconds, maxOutputBytes, env, inheritEnv, warm } = isolate;
  return {
    module: module === undefined ? null : urlOf(module),
    command: command === undefined ? null : callOf(command),
    cwd: cwd ?? null,
    user: user ?? null,
    timeoutMs: timeout ?? null,
    memoryBytes: memoryMb === undefined ? null : Math.ceil(memoryMb * 1_024 * 1_024),
    cpuMs: cpuSeconds === undefined ? null : Math.ceil(cpuSeconds * 1_000),
    maxOutputBytes: maxOutputBytes ?? MAX_OUTPUT_BYTES,
    env: env ?? {},
    inheritEnv: inheritEnv ?? [],
    warm: warm ?? 0,
  };
}

function isModule(module: unknown): boolean {
  const isUrl = module instanceof URL ? module.protocol === 'file:' : typeof module === 'string' && module !== '';
  return isUrl && !/^(?!file:)[a-z]{2,}:/i.test(String(module));
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

function isCommand(value: unknown): boolean {
  const isText = (part: unknown) => typeof part === 'string' && !part.includes('\0');
  return Array.isArray(value) && value.length > 0 && value.every(isText) && value[0] !== '';
}

function isUser(value: unknown): boolean {
  const { uid, gid, ...rest } = (isObject(value) ? value : {}) as Record<string, unknown>;
  const isId = (id: unknown) => Number.isSafeInteger(id) && (id as number) >= 0 && (id as number) <= MAX_ID;
  return isId(uid) && isId(gid) && Object.keys(rest).length === 0;
}

function isEnvironment(value: unknown): boolean {
  const isEntry = ([name, text]: [string, unknown]) =>
    VARIABLE.test(name) && typeof text === 'string' && !text.includes('\0');
  return isObject(value) && Object.entries(value).every(isEntry);
}

function isNameList(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === 'string' && VARIABLE.test(name));
}

const refuse = (owner: string, name: string, rule: string): WaybillError =>
  new WaybillError('invalid_request', `${owner}: '${name}' must be ${rule}.`, { details: { field: name } });
