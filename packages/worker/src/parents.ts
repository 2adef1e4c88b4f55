import { closest, type Job, type Json, PARENT_NAMES, WaybillError } from '@waybill/core';
import type { Jsonified } from './jsonified.ts';
import { isSignal } from './signal.ts';
import type { TaskResult, TypedTask } from './typed-task.ts';

export { PARENT_NAMES };

/** A task that declares none. */
export type NoParents = Record<never, never>;

/** The tasks whose results a task is given, and the signals whose data, by name; in brackets where a map ran it, so that there is a list of results. */
export type ParentTasks = Readonly<Record<string, TypedTask | readonly [TypedTask]>>;

/** What a parent came to, before its trip through JSON. */
export type ParentResult<T> = T extends readonly [infer One] ? TaskResult<One>[] : TaskResult<T>;

/** As a handler finds them. One that was skipped has come to null. */
export type ParentResults<Parents> = { readonly [Name in keyof Parents]: Jsonified<ParentResult<Parents[Name]>> };

const NONE: Readonly<Record<string, Json>> = Object.freeze({});

/** The results of the parents under the names that the producer gave them. */
export function parentsByName({ spec }: Job, results: readonly Json[]): Readonly<Record<string, Json>> {
  const names = results.length === 0 ? undefined : spec.meta[PARENT_NAMES];
  if (!Array.isArray(names)) return NONE;
  return Object.fromEntries(
    names.flatMap((name, at) => (typeof name === 'string' ? [[name, results[at] ?? null]] : [])),
  );
}

export function checkParents(owner: string, parents: unknown): void {
  if (parents === undefined) return;
  const isMap = typeof parents === 'object' && parents !== null && !Array.isArray(parents);
  const wrong = isMap
    ? Object.entries(parents).find(([, given]) => !isTask(Array.isArray(given) ? given[0] : given))
    : [];
  if (wrong === undefined) return;
  const where = wrong[0] === undefined ? `'parents'` : `'parents.${wrong[0]}'`;
  const message = `${owner}: ${where} must be tasks or signals by name, such as { page: fetchPage }; [fetchPage] for the results of a map.`;
  throw new WaybillError('invalid_request', message);
}

const isTask = (given: unknown): boolean =>
  typeof (given as { run?: unknown } | null | undefined)?.run === 'function' || isSignal(given);

/** Which of the declared parents a node lacks. */
export function checkGiven(
  task: { name: string; parents?: ParentTasks },
  names: readonly string[],
  field: string,
): void {
  const lacking = Object.keys(task.parents ?? {}).find((name) => !names.includes(name));
  if (lacking === undefined) return;
  const meant = closest(lacking, names);
  const hint = meant === undefined ? '' : ` Is '${meant}' meant?`;
  const message = `${field} lacks '${lacking}', which task '${task.name}' declares as its parent.${hint}`;
  throw new WaybillError('invalid_request', message, { details: { field, task: task.name, parent: lacking } });
}
