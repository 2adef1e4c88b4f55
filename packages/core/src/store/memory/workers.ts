import type { Told } from '../../events/subject-event.ts';
import type { WorkerBeat, WorkerDirective, WorkerInfo } from '../workers.ts';
import { keyOf, type MemoryState } from './state.ts';

export function beat(state: MemoryState, { tenant, id, activeJobs, now, told }: WorkerBeat): WorkerDirective {
  if (told && !state.workers.has(keyOf(tenant, id))) state.tellOf(told);
  const known = state.workers.get(keyOf(tenant, id)) ?? { tenant, id, firstSeenAt: now, directive: 'running' };
  state.workers.set(keyOf(tenant, id), { ...known, activeJobs, lastSeenAt: now });
  return known.directive;
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
