import type { Told } from '../../events/subject-event.ts';
import type { WorkerBeat, WorkerDirective, WorkerInfo } from '../workers.ts';
import { keyOf, type MemoryState } from './state.ts';

export function beat(state: MemoryState, given: WorkerBeat): WorkerDirective {
  const { tenant, id, activeJobs, instance, now, told } = given;
  const key = keyOf(tenant, id);
  if (told && !state.workers.has(key)) state.tellOf(told);
  const known = state.workers.get(key) ?? { tenant, id, firstSeenAt: now, directive: 'running' };
  const isOther = instance !== undefined && state.workerInstances.get(key) !== instance;
  if (isOther) state.workerInstances.set(key, instance);
  const directive = isOther ? 'running' : known.directive;
  state.workers.set(key, { ...known, activeJobs, lastSeenAt: now, directive });
  return directive;
}

export function direct(
  state: MemoryState,
  tenant: string,
  id: string,
  directive: WorkerDirective,
  told?: Told,
): WorkerInfo | null {
  const known = state.workers.get(keyOf(tenant, id));
  if (!known) return null;
  if (told && known.directive !== directive) state.tellOf(told);
  const worker = { ...known, directive };
  state.workers.set(keyOf(tenant, id), worker);
  return worker;
}

export const listWorkers = (state: MemoryState, tenant: string): WorkerInfo[] =>
  [...state.workers.values()].filter((worker) => worker.tenant === tenant).sort((a, b) => (a.id < b.id ? -1 : 1));
