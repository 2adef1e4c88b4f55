import type { Job } from '../../job/job.ts';
import { holdsLease } from '../../job/lease.ts';
import { transition } from '../../job/transition.ts';
import type { ApplyAnswer, Change } from '../apply.ts';
import type { ExtendAnswer, ExtendRequest } from '../extend.ts';
import { admit } from './slots.ts';
import type { MemoryState } from './state.ts';

export const apply = (state: MemoryState, changes: readonly Change[]): ApplyAnswer[] =>
  changes.map((change) => applyOne(state, change));

function applyOne(state: MemoryState, change: Change): ApplyAnswer {
  const stored = state.get(change.job.tenant, change.job.id);
  if (!stored) return { status: 'lost' };
  const verdict = judge(stored, change);
  if (verdict === 'lost') return { status: 'lost' };
  if (verdict === 'repeated') return { status: 'applied', repeated: true, admitted: [] };

  const { tenant, id, createdAt, spec, limitKey } = stored;
  state.write({ ...change.job, tenant, id, createdAt, spec }, change.events);
  // Giving a slot back and asking for one are the same here: whoever is first in line gets what is free now. The
  // rows are asked too, since a caller that read the job as parked cannot know that it was admitted meanwhile.
  const moves = change.slot !== undefined || (stored.holdsSlot && !change.job.holdsSlot);
  const admitted = moves && limitKey !== null ? admit(state, tenant, limitKey) : [];
  return { status: 'applied', repeated: false, admitted };
}

function judge(stored: Job, { expect, job }: Change): 'fits' | 'repeated' | 'lost' {
  if (expect.by === 'version') {
    return stored.version === expect.version && stored.nextAt === expect.nextAt ? 'fits' : 'lost';
  }
  if (holdsLease(stored, expect)) return 'fits';
  const sameRun = stored.run === expect.run && stored.claimId === expect.claimId;
  return sameRun && stored.outcome === job.outcome ? 'repeated' : 'lost';
}

export const extend = (state: MemoryState, requests: readonly ExtendRequest[]): ExtendAnswer[] =>
  requests.map((request) => extendOne(state, request));

function extendOne(state: MemoryState, { tenant, id, by, leaseMs, now }: ExtendRequest): ExtendAnswer {
  const stored = state.get(tenant, id);
  if (!stored || !speaksFor(stored, by)) return { status: 'lost' };
  const change = transition(stored, { do: 'extend', leaseMs }, now);
  if (!change) return { status: 'lost' };
  state.write(change.job);
  return { status: 'extended', leaseUntil: change.job.leaseUntil! };
}

function speaksFor(job: Job, by: ExtendRequest['by']): boolean {
  if (by === 'anyone') return true;
  return 'workerId' in by ? job.workerId === by.workerId : holdsLease(job, by);
}
