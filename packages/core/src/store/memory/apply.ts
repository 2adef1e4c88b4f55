import { heartbeatEvent } from '../../job/heartbeat-event.ts';
import type { Job } from '../../job/job.ts';
import { holdsLease } from '../../job/lease.ts';
import { fenceAdmits } from '../../job/progress.ts';
import { transition } from '../../job/transition.ts';
import type { ApplyAnswer, Change } from '../apply.ts';
import type { ExtendAnswer, ExtendRequest } from '../extend.ts';
import { admit, useLimit } from './slots.ts';
import { keyOf, type MemoryState } from './state.ts';

export const apply = (state: MemoryState, changes: readonly Change[]): ApplyAnswer[] =>
  changes.map((change) => applyOne(state, change));

export function applyOne(state: MemoryState, change: Change): ApplyAnswer {
  const verdict = judge(state, change);
  if (verdict === 'lost') return { status: 'lost' };
  if (verdict === 'repeated') return { status: 'applied', repeated: true, admitted: [] };

  const { tenant, id, createdAt, spec, limitKey } = state.get(change.job.tenant, change.job.id)!;
  state.write({ ...change.job, tenant, id, createdAt, spec }, change.events);
  useLimit(state, { ...change.job, tenant, limitKey }, change.limit);
  // Giving a slot back and asking for one are the same here: whoever is first in line gets what is free now.
  const admitted = change.slot && limitKey !== null ? admit(state, tenant, limitKey, state.clock.now()) : [];
  return { status: 'applied', repeated: false, admitted };
}

/** What would come of a change, without making it. */
export function judge(state: MemoryState, { expect, job, ownsKey }: Change): 'fits' | 'repeated' | 'lost' {
  const stored = state.get(job.tenant, job.id);
  if (!stored) return 'lost';
  if (expect.by === 'version') {
    const { version, nextAt, holdsSlot } = expect;
    const same = stored.version === version && stored.nextAt === nextAt && stored.holdsSlot === holdsSlot;
    return same && (!ownsKey || hasItsKey(state, stored)) ? 'fits' : 'lost';
  }
  if (holdsLease(stored, expect)) return !ownsKey || hasItsKey(state, stored) ? 'fits' : 'lost';
  const sameRun = stored.run === expect.run && stored.claimId === expect.claimId && stored.state !== 'active';
  return sameRun && stored.outcome === job.outcome ? 'repeated' : 'lost';
}

/** A job without a key has none to lose. */
const hasItsKey = (state: MemoryState, { tenant, id, uniqueKey }: Job): boolean =>
  uniqueKey === null || state.owners.get(keyOf(tenant, uniqueKey)) === id;

export const extend = (state: MemoryState, requests: readonly ExtendRequest[]): ExtendAnswer[] =>
  requests.map((request) => extendOne(state, request));

function extendOne(state: MemoryState, { tenant, id, by, leaseMs, now, isTold }: ExtendRequest): ExtendAnswer {
  const stored = state.get(tenant, id);
  if (!stored || !fenceAdmits(stored, by)) return { status: 'lost' };
  const change = transition(stored, { do: 'extend', leaseMs }, now);
  if (!change) return { status: 'lost' };
  const leaseUntil = change.job.leaseUntil!;
  const event = isTold ? heartbeatEvent(stored, leaseUntil, now) : null;
  state.write(change.job, event ? [event] : []);
  return { status: 'extended', leaseUntil };
}
