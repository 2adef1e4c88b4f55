import { evolve } from '../../job/evolve.ts';
import { isFinished, type Job } from '../../job/job.ts';
import { transition } from '../../job/transition.ts';
import type { AdvanceRequest } from '../workflows.ts';
import { admit } from './slots.ts';
import type { MemoryState } from './state.ts';

export function advance(state: MemoryState, { tenant, parent, now }: AdvanceRequest): { dispatched: Job[] } {
  const row = state.get(tenant, parent);
  if (!row || !isFinished(row.state)) return { dispatched: [] };
  // Also for a parent that failed: it opens no way, but the sweep need not look at it again.
  if (row.advancePending) state.write(evolve(row, { advancePending: false }, [], now).job);
  if (row.state !== 'completed') return { dispatched: [] };

  const met = state.edges.filter((edge) => edge.tenant === tenant && edge.parent === parent);
  state.edges = state.edges.filter((edge) => !met.includes(edge));
  const children = new Set(met.map((edge) => edge.child));
  return { dispatched: [...children].flatMap((child) => dispatch(state, tenant, child, now)) };
}

function dispatch(state: MemoryState, tenant: string, id: string, now: number): Job[] {
  if (state.edges.some((edge) => edge.tenant === tenant && edge.child === id)) return [];
  const child = state.get(tenant, id);
  const change = child && transition(child, { do: 'activate' }, now);
  if (!change) return [];
  state.write(change.job, change.events);
  if (child.limitKey !== null) admit(state, tenant, child.limitKey);
  return [state.get(tenant, id)!];
}
