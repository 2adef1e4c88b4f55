import type { JsonObject } from '@waybill/core';
import { checkRunOptions } from '../../enqueue-from-run.ts';
import type { RunEnqueueOptions } from '../../enqueue-options.ts';
import { toJson } from '../../jsonified.ts';
import { requestFor } from '../../request.ts';
import type { AnyTask } from '../../task.ts';
import type { TypedTask } from '../../typed-task.ts';
import type { EnqueueFromChild } from '../child-calls.ts';

/** A job as the worker can enqueue it: what only the task can do, its schema and its rules, is done here. */
export async function enqueueFromChild(
  given: TypedTask,
  input: unknown,
  options: RunEnqueueOptions = {},
): Promise<EnqueueFromChild> {
  const task = given as AnyTask;
  checkRunOptions(options);
  const { args } = await requestFor(task, input, options);
  const { unique, limit, ...policy } = task.policy;
  const asked = <Rule>(rule: Rule | ((input: unknown) => Rule)): Rule =>
    typeof rule === 'function' ? (rule as (input: unknown) => Rule)(input) : rule;
  const rules = { unique: options.unique ?? asked(unique), limit: options.limit ?? asked(limit) };
  const said = Object.entries({ ...options, ...rules }).filter(([, value]) => value !== undefined);
  const sent = toJson(Object.fromEntries(said));
  if (!sent.ok) throw new TypeError(`The options of context.enqueue() are not JSON: ${sent.problem}.`);
  return {
    name: task.name,
    policy,
    ...(args[0] !== undefined && { input: args[0] }),
    options: sent.value as JsonObject,
  };
}
