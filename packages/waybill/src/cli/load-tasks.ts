import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WaybillError } from '@waybill/core';
import type { AnyTask } from '@waybill/worker';
import { shownWord } from '../connect/shown-address.ts';
import { oneLine } from './text-width.ts';

/** Every task that a module exports, by name or in lists; the same one is often exported in both ways. */
async function loadTasks(module: string): Promise<AnyTask[]> {
  const file = resolve(module);
  if (!existsSync(file)) {
    // The address of the store, where --store was forgotten.
    const shown = /:\/\/|:.*@|[?&][^=]*=/s.test(module) ? shownWord(module) : file;
    throw new WaybillError('invalid_request', `There is no module ${shown}.`, {
      hint: 'Name the file, with its ending.',
    });
  }
  const exported = Object.values(await imported(file, module));
  return [...new Set(exported.flat().filter(isTask))];
}

/** For a worker, which has nothing to do without any. */
export async function loadSomeTasks(module: string): Promise<AnyTask[]> {
  const tasks = await loadTasks(module);
  if (tasks.length > 0) return tasks;
  throw new WaybillError('invalid_request', `${module} exports no tasks.`, {
    hint: "Export what task(..) of 'waybill' answers, by name or as a default list.",
  });
}

/** What goes wrong while user code is loaded is the user's to see, but not with a stack of ours. */
async function imported(file: string, module: string): Promise<Record<string, unknown>> {
  try {
    return await import(pathToFileURL(file).href);
  } catch (cause) {
    const why = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    throw new WaybillError('invalid_request', `${module} cannot be loaded: ${oneLine(why)}`, { cause });
  }
}

/** By shape and not by class: the module may have another copy of the package. */
function isTask(value: unknown): value is AnyTask {
  if (typeof value !== 'object' || value === null) return false;
  const { name, run, policy } = value as Partial<AnyTask>;
  return typeof name === 'string' && typeof run === 'function' && typeof policy === 'object';
}
