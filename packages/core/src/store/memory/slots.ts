import type { Job } from '../../job/job.ts';
import { rankFor } from '../../job/rank.ts';
import type { LimitInfo, LimitSettings } from '../limits.ts';
import { keyOf, type MemoryState } from './state.ts';

/** Gives every free slot of a limit to the parked jobs that stand first in line. A limit never set has no slots. */
export function admit(state: MemoryState, tenant: string, key: string): Job[] {
  const concurrency = state.limits.get(keyOf(tenant, key)) ?? 0;
  const admitted: Job[] = [];
  while (holders(state, tenant, key) < concurrency) {
    const first = parked(state, tenant, key)[0];
    if (!first) break;
    const job = { ...first, holdsSlot: true };
    job.rank = rankFor(job);
    state.write(job);
    admitted.push(job);
  }
  return admitted;
}

export function setLimit(state: MemoryState, { tenant, key, concurrency }: LimitSettings): { admitted: number } {
  state.limits.set(keyOf(tenant, key), concurrency);
  return { admitted: admit(state, tenant, key).length };
}

export function getLimit(state: MemoryState, tenant: string, key: string): LimitInfo | null {
  const concurrency = state.limits.get(keyOf(tenant, key));
  return concurrency === undefined ? null : { tenant, key, concurrency, holders: holders(state, tenant, key) };
}

const ofLimit = (state: MemoryState, tenant: string, key: string): Job[] =>
  state.rows().filter((job) => job.tenant === tenant && job.limitKey === key);

const holders = (state: MemoryState, tenant: string, key: string): number =>
  ofLimit(state, tenant, key).filter((job) => job.holdsSlot).length;

const parked = (state: MemoryState, tenant: string, key: string): Job[] =>
  ofLimit(state, tenant, key)
    .filter((job) => job.state === 'available' && !job.holdsSlot)
    .sort((a, b) => a.seq - b.seq);
