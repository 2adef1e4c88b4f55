import { resolve } from 'node:path';
import type { IsolateOptions } from '@waybill/worker';
import { misuse, type Options, type Values } from './command.ts';
import type { Context } from './context.ts';
import { readInteger, readList, readSpan, readText } from './read-value.ts';

/** Whether a worker runs the programs of `waybill exec`. */
export const EXEC_OPTION = {
  exec: { about: 'run the programs of waybill exec, as the user of this worker' },
} as const satisfies Options;

/** Programs as tasks, without a module. */
export const PROGRAM_OPTIONS = {
  command: { value: 'TEXT', about: 'work with any program: /bin/sh -c runs this text for each job' },
  type: { value: 'TYPE', about: 'the type of the jobs of --command, like py.step' },
  ...EXEC_OPTION,
  cwd: { value: 'DIR', about: 'the folder in which programs run', default: 'here' },
  timeout: { value: 'SPAN', about: 'how long a program may run', default: 'no limit' },
  'memory-mb': { value: 'N', about: 'megabytes of memory of a program', default: 'no limit' },
  cpu: { value: 'SPAN', about: 'processor time of a program', default: 'no limit' },
  'max-output-mb': { value: 'N', about: 'megabytes that a program may print', default: '64' },
  'inherit-env': { value: 'NAMES', about: 'variables that programs get besides PATH, LANG and a few more' },
} as const satisfies Options;

export type ProgramValues = Values<typeof PROGRAM_OPTIONS>;

/** What one run may use; of `--command` and `--exec` alike. */
export type ProgramLimits = Omit<IsolateOptions, 'command' | 'module' | 'env' | 'warm'>;

/** Flags that say how programs run, and nothing without one. */
const OF_PROGRAMS = ['cwd', 'timeout', 'memory-mb', 'cpu', 'max-output-mb', 'inherit-env'] as const;

/** What can be said before a module is loaded. The configuration file may have limits for other workers, so those are let pass. */
export function checkPrograms(values: ProgramValues, { config }: Pick<Context, 'config'>): void {
  const { command, type, exec } = values;
  if (command === undefined && type !== undefined) throw misuse('--type has a meaning only with --command.');
  if (command !== undefined && type === undefined)
    throw misuse('--command needs --type: the type of the jobs that it runs, like py.step.');
  if (command !== undefined) readText('--command', command);
  readLimits(values);
  if (command !== undefined || exec) return;
  const idle = OF_PROGRAMS.find((name) => values[name] !== undefined && config?.flags[name] === undefined);
  if (idle !== undefined) throw misuse(`--${idle} has a meaning only with --command or --exec.`);
}

const MB = 1_048_576;

export function readLimits(values: ProgramValues): ProgramLimits {
  const { cwd, timeout, cpu, 'memory-mb': memory, 'max-output-mb': output, 'inherit-env': inherited } = values;
  return {
    ...(cwd !== undefined && { cwd: resolve(readText('--cwd', cwd)) }),
    ...(timeout !== undefined && { timeout: readSomeTime('--timeout', timeout) }),
    ...(memory !== undefined && { memoryMb: readCount('--memory-mb', memory) }),
    ...(cpu !== undefined && { cpuSeconds: readSomeTime('--cpu', cpu) / 1_000 }),
    ...(output !== undefined && { maxOutputBytes: readCount('--max-output-mb', output) * MB }),
    ...(inherited !== undefined && { inheritEnv: readList('--inherit-env', inherited) }),
  };
}

const MOST_MB = 1_048_576;

function readCount(name: string, text: string): number {
  const count = readInteger(name, text);
  if (count >= 1 && count <= MOST_MB) return count;
  throw misuse(`${name} must be from 1 to ${MOST_MB}, not ${text}.`);
}

function readSomeTime(name: string, text: string): number {
  const ms = readSpan(name, text);
  if (ms >= 1) return ms;
  throw misuse(`${name} must be longer than nothing, not ${text}.`);
}
