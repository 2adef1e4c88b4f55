import type { Told } from '../../events/subject-event.ts';
import type { WorkerBeat, WorkerDirective, WorkerInfo } from '../workers.ts';
import { keyOf, type MemoryState } from './state.ts';

export function beat(state: MemoryState, given: WorkerBeat): WorkerDirective {
  const { tenant, id, activeJobs, instance, now, told } = given;
  const key = keyOf(tenant, id);
  if (told && !state.workers.has(key)) state.tellOf(told);
  const known = state.workers.get(key) ?? { tenant, id, firstSeenAt: now, directive: 'running' };
  const worker = { ...known, activeJobs, lastSeenAt: now };
  state.workers.set(key, worker);
  const { directed } = state.workerInstances.get(key) ?? {};
  if (instance !== undefined) state.workerInstances.set(key, { seen: instance, directed });
  return heard(state, worker).directive;
}

/** What the instance that was seen last was told. */
function heard(state: MemoryState, worker: WorkerInfo): WorkerInfo {
  const { seen, directed } = state.workerInstances.get(keyOf(worker.tenant, worker.id)) ?? {};
  return seen === directed ? worker : { ...worker, directive: 'running' };
}

export function direct(
  state: MemoryState,
  tenant: string,
  id: string,
  directive: WorkerDirective,
  told?: Told,
): WorkerInfo | null {
  const key = keyOf(tenant, id);
  const known = state.workers.get(key);
  if (!known) return null;
  if (told && heard(state, known).directive !== directive) state.tellOf(told);
  const worker = { ...known, directive };
  state.workers.set(key, worker);
  const { seen } = state.workerInstances.get(key) ?? {};
  state.workerInstances.set(key, { seen, directed: seen });
  return worker;
}

export const listWorkers = (state: MemoryState, tenant: string): WorkerInfo[] =>
  [...state.workers.values()]
    .filter((worker) => worker.tenant === tenant)
    .map((worker) => heard(state, worker))
    .sort((a, b) => (a.id < b.id ? -1 : 1));
