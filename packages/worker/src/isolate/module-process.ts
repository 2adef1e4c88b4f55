import { randomUUID } from 'node:crypto';
import { lineOf, type ToChild } from './channel.ts';
import { childCommand } from './child-command.ts';
import type { ContainedHooks, ContainedProcess } from './contained.ts';
import { environmentOf } from './environment.ts';
import type { RunHandover } from './isolated-program.ts';
import { limitsOf } from './limits-of.ts';
import { makeRunFolder } from './run-folder.ts';

/** A Node process that has loaded the module of a task, or is about to; for one run. */
export interface ModuleProcess {
  readonly process: ContainedProcess;
  /** What the process says from now on; what it said before is told first. */
  attach(hooks: ContainedHooks): void;
  clear(): Promise<void>;
}

/** Where the process of a run comes from: started for it, or ahead of need. */
export interface ModuleProcesses {
  take(run: RunHandover): Promise<ModuleProcess>;
  stop(): Promise<void>;
}

/** What a process is started with before it is known which run it is for. */
export type ModuleStart = Pick<RunHandover, 'isolate' | 'parts' | 'task'>;

export async function startModule(start: ModuleStart): Promise<ModuleProcess> {
  const { isolate, parts, task } = start;
  const folder = await makeRunFolder(null, undefined, isolate.user);
  const { home, config, temp } = folder;
  const cwd = isolate.cwd ?? process.cwd();
  const env = environmentOf({ ...isolate, worker: process.env, own: { home, config, temp, cwd } });
  const early: (() => void)[] = [];
  let hooks: ContainedHooks | undefined;
  const tell = (call: (to: ContainedHooks) => void) => {
    if (hooks !== undefined) call(hooks);
    else early.push(() => call(hooks!));
  };
  const { startContained } = await import('./process/start-contained.ts');
  const contained = startContained(
    {
      ...{ command: await childCommand(), cwd, env, mark: randomUUID(), channel: true, limits: limitsOf(start) },
      ...(isolate.user !== null && { user: isolate.user }),
      ...(parts.cgroup !== undefined && { cgroup: parts.cgroup }),
    },
    {
      onOutput: (chunk, stream) => tell((to) => to.onOutput?.(chunk, stream)),
      onLine: (line) => (hooks === undefined ? tell((to) => void to.onLine?.(line)) : hooks.onLine?.(line)),
    },
  );
  const load: ToChild = { kind: 'load', module: isolate.module!, task: task.name };
  contained.send(lineOf(load));
  return {
    process: contained,
    attach: (given) => {
      hooks = given;
      for (const call of early.splice(0)) call();
    },
    clear: folder.remove,
  };
}

/** Each process is started when its run begins. */
export const coldProcesses: ModuleProcesses = { take: startModule, stop: async () => {} };
