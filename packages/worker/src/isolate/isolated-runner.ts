import { type Job, type Logger, stderrLogger, WaybillError } from '@waybill/core';
import type { Runner } from '../execute/runner.ts';
import { type AnyTask, ISOLATED } from '../task.ts';
import { CommandProgram } from './command-program.ts';
import { type ResolvedIsolate, resolveIsolate } from './isolate-options.ts';
import type { IsolatedProgram } from './isolated-program.ts';
import { runIsolated } from './isolated-run.ts';
import { coldProcesses, type ModuleProcesses } from './module-process.ts';
import { ModuleProgram } from './module-program.ts';
import { checkOptions, functionOf, type OptionRules, textOf, wholeFrom } from './option-rules.ts';
import { removeLeftFolders } from './run-folder.ts';
import { WarmProcesses } from './warm-processes.ts';

export interface IsolatedOptions {
  /** @defaultValue 'isolated' */
  name?: string;
  /** Processes at a time. @defaultValue 3 */
  concurrency?: number;
  /**
   * Milliseconds that a module which was told to end has, before it gets SIGTERM. A command cannot be told, so it gets SIGTERM at
   * once. @defaultValue 1_000
   */
  abortMs?: number;
  /** Milliseconds between SIGTERM and SIGKILL. @defaultValue 5_000 */
  killAfterMs?: number;
  /** Where the worker stops: milliseconds until SIGKILL, SIGTERM at half of them. @defaultValue abortMs + killAfterMs */
  stopMs?: number;
  /** Marks each line of output in the log, in brackets. @defaultValue type:id */
  label?: (job: Job) => string;
  /**
   * A folder of cgroup v2 that is left to the worker, for groups with the memory limits of its runs; false: the worker looks at memory
   * itself. @defaultValue the group above that of the worker, where the service manager has left it to the worker
   */
  cgroup?: string | false;
  /** A larger result fails the run. @defaultValue 1_048_576 */
  maxResultBytes?: number;
  /** Where output of processes goes, at the level info. @defaultValue stderrLogger, which writes warnings and errors only */
  logger?: Logger;
}

const RULES: OptionRules<IsolatedOptions> = {
  name: textOf('a text'),
  concurrency: wholeFrom(1, 'a whole number above 0'),
  abortMs: wholeFrom(0, 'whole milliseconds from 0 on'),
  killAfterMs: wholeFrom(0, 'whole milliseconds from 0 on'),
  stopMs: wholeFrom(0, 'whole milliseconds from 0 on'),
  label: functionOf('a function of the job'),
  cgroup: {
    must: 'false, or the path of a folder of cgroup v2',
    accepts: (value) => value === false || (typeof value === 'string' && value !== ''),
  },
  maxResultBytes: wholeFrom(0, 'whole bytes from 0 on'),
  logger: { must: 'a logger', accepts: (value) => typeof value === 'object' && value !== null },
};

const DEFAULTS = {
  ...{ name: ISOLATED, concurrency: 3, abortMs: 1_000, killAfterMs: 5_000, maxResultBytes: 1_048_576 },
  logger: stderrLogger,
} satisfies IsolatedOptions;

/** How long the processes of a run may take to be gone after SIGKILL. */
const SWEEP_MS = 1_000;

/** Runs the tasks that have the option `isolate`, each run in processes of its own. Every worker with such a task has one. */
export function isolatedRunner(options: IsolatedOptions = {}): Runner {
  checkOptions('isolatedRunner()', options, RULES);
  const parts = { stopMs: null, label: typeAndId, ...DEFAULTS, ...options };
  const tasks = new Map<AnyTask, { isolate: ResolvedIsolate; processes: ModuleProcesses }>();
  const underWay = new Set<Promise<unknown>>();
  void removeLeftFolders().catch(() => {});

  function settingsOf(task: AnyTask) {
    const known = tasks.get(task);
    if (known !== undefined) return known;
    if (task.isolate === undefined) throw notIsolated(task);
    const isolate = resolveIsolate(task.isolate);
    const processes = isolate.warm > 0 ? new WarmProcesses({ isolate, parts, task }, parts.logger) : coldProcesses;
    const settings = { isolate, processes };
    tasks.set(task, settings);
    return settings;
  }

  return {
    name: parts.name,
    concurrency: parts.concurrency,
    abortGraceMs: Math.max(parts.abortMs + parts.killAfterMs, parts.stopMs ?? 0) + SWEEP_MS,
    endsWithLease: true,
    prepare: (task) => void settingsOf(task),
    run: (validated, control, context) => {
      const { isolate, processes } = settingsOf(validated.task);
      const run = runIsolated(validated, control, context, isolate, programOf(isolate, processes), parts);
      const ended = run.catch(() => {}).finally(() => underWay.delete(ended));
      underWay.add(ended);
      return run;
    },
    // Runs that were abandoned are still being killed, and no process outlives its worker.
    stop: async () => {
      await Promise.all([...underWay, ...[...tasks.values()].map(({ processes }) => processes.stop())]);
    },
  };
}

/** What a worker may say of its isolated tasks. */
export type IsolatedSettings = Omit<IsolatedOptions, 'name' | 'logger' | 'maxResultBytes'>;

interface WorkerParts {
  tasks: readonly AnyTask[];
  runners?: readonly Runner[];
  isolated?: IsolatedSettings;
}

/** The runner of a worker's isolated tasks; none where it has no such task, or brings one of its own. */
export function isolatedFor(
  { tasks, runners = [], isolated }: WorkerParts,
  parts: Required<Pick<IsolatedOptions, 'logger' | 'maxResultBytes'>>,
): Runner[] {
  if (isolated !== undefined) checkOptions("The option 'isolated'", isolated, OWN_RULES);
  const isNeeded = tasks.some(({ runner }) => runner === ISOLATED) && !runners.some(({ name }) => name === ISOLATED);
  const { logger, maxResultBytes } = parts;
  return isNeeded ? [isolatedRunner({ ...isolated, logger, maxResultBytes })] : [];
}

const { name: _, logger: __, maxResultBytes: ___, ...OWN_RULES } = RULES;

const typeAndId = ({ type, id }: Job): string => `${type}:${id}`;

const programOf = ({ module, command }: ResolvedIsolate, processes: ModuleProcesses): IsolatedProgram =>
  module === null ? new CommandProgram(command!) : new ModuleProgram(module, processes);

const notIsolated = ({ name }: AnyTask): WaybillError =>
  new WaybillError(
    'invalid_request',
    `Task '${name}' has no option 'isolate', so the runner of isolated tasks cannot run it. Leave 'runner' out.`,
  );
