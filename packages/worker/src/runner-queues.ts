import { WaybillError } from '@waybill/core';
import type { Runner } from './execute/runner.ts';
import type { ResolvedQueue } from './queue-options.ts';
import { type AnyTask, IN_PROCESS, runnerOf } from './task.ts';

/** A runner with the queues that it claims jobs of, in order, and the tasks that it runs. */
export interface RunnerQueues {
  runner: Runner;
  queues: readonly ResolvedQueue[];
  tasks: ReadonlyMap<string, AnyTask>;
}

export const queueOf = ({ policy }: AnyTask): string => policy.queue ?? 'default';

/**
 * Gives each queue to the runner of its tasks. A queue has one runner, because a claim cannot choose jobs by their task: a
 * worker with a full runner would claim jobs that it cannot run. A queue without a task goes to the first runner that
 * has tasks. Runners without a queue are left out.
 */
export function queuesByRunner(
  runners: readonly Runner[],
  tasks: readonly AnyTask[],
  queues: readonly ResolvedQueue[],
): RunnerQueues[] {
  for (const task of tasks) checkRunnerOf(task, runners);
  const fallback = runners.find(({ name }) => tasks.some((task) => runnerOf(task) === name)) ?? runners[0]!;
  const owners = queues.map((queue) => ({ queue, owner: ownerOf(queue.name, tasks) ?? fallback.name }));
  return runners
    .map((runner) => ({
      runner,
      queues: owners.filter(({ owner }) => owner === runner.name).map(({ queue }) => queue),
      tasks: new Map(tasks.filter((task) => runnerOf(task) === runner.name).map((task) => [task.name, task])),
    }))
    .filter((one) => one.queues.length > 0);
}

function checkRunnerOf(task: AnyTask, runners: readonly Runner[]): void {
  const { name } = task;
  const runner = runnerOf(task);
  if (runners.some((one) => one.name === runner)) return;
  const known = runners.map((one) => `'${one.name}'`).join(', ');
  throw new WaybillError(
    'invalid_request',
    `Task '${name}' has the runner '${runner}', and this worker has: ${known}. Add it to the option 'runners'.`,
  );
}

/** The name of the one runner that a queue's tasks have; undefined where no task has this queue. */
function ownerOf(queue: string, tasks: readonly AnyTask[]): string | undefined {
  const [first, ...others] = tasks.filter((task) => queueOf(task) === queue);
  const other = others.find((task) => runnerOf(task) !== runnerOf(first!));
  if (other === undefined) return first && runnerOf(first);
  const both = [first!, other].map((task) => `'${task.name}' (${runnerOf(task)})`).join(' and ');
  throw new WaybillError(
    'invalid_request',
    `Queue '${queue}' has tasks of two runners: ${both}. Give one of them a queue of its own.`,
  );
}

/** The runner that every worker has comes first. */
export function allRunners(inProcess: Runner, given: readonly Runner[], maxConcurrency: number): Runner[] {
  const names = new Set([IN_PROCESS]);
  for (const { name, concurrency, abortGraceMs = 0 } of given) {
    if (typeof name !== 'string' || name === '') throw refuse(`has a runner without a name`);
    if (name === IN_PROCESS) throw refuse(`has a runner '${name}', which every worker has already. Use another name`);
    if (names.has(name)) throw refuse(`has two runners '${name}'. Give each a name of its own`);
    names.add(name);
    if (!Number.isSafeInteger(concurrency) || concurrency < 1 || concurrency > maxConcurrency)
      throw refuse(`has '${name}' with concurrency ${concurrency}. Use an integer from 1 to ${maxConcurrency}`);
    if (!Number.isFinite(abortGraceMs) || abortGraceMs < 0)
      throw refuse(`has '${name}' with abortGraceMs ${abortGraceMs}. Use milliseconds from 0 on`);
  }
  return [inProcess, ...given];
}

const refuse = (why: string): WaybillError => new WaybillError('invalid_request', `The option 'runners' ${why}.`);
