import { runScript } from './child.ts';
import { scriptAt } from './paths.ts';
import type { Task } from './result.ts';
import type { SystemName } from './systems/index.ts';

const FILL = scriptAt('fill');

/** How many jobs of each kind. */
export interface Filling {
  finished?: number;
  scheduled?: number;
  ready?: number;
}

export interface FillOrder {
  task: Task;
  system: SystemName;
  filling: Filling;
}

/** In a process of its own, so that the worker's memory is the worker's. */
export async function fill(task: Task, system: SystemName, filling: Filling): Promise<void> {
  const order: FillOrder = { task, system, filling };
  await runScript(FILL, order);
}
