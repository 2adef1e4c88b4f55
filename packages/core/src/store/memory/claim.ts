import { isFinished, type Job } from '../../job/job.ts';
import { rankOf } from '../../job/rank.ts';
import { transition } from '../../job/transition.ts';
import type { ClaimAnswer, ClaimByIdRequest, ClaimRequest } from '../claim.ts';
import { countQueueStart, roomIn } from './queues.ts';
import { countStart } from './slots.ts';
import type { MemoryState } from './state.ts';

export const claim = (state: MemoryState, requests: readonly ClaimRequest[]): Job[][] =>
  requests.map((request) => claimNext(state, request));

function claimNext(state: MemoryState, request: ClaimRequest): Job[] {
  const own = state.rows().filter((job) => job.tenant === request.tenant);
  const known = own.filter((job) => job.claimId === request.claimId);
  if (known.length > 0) return known.filter((job) => job.state === 'active').sort(byRank);

  const claimed: Job[] = [];
  for (const name of new Set(request.queues)) {
    const ready = own.filter((job) => job.queue === name && job.rank !== null).sort(byRank);
    if (ready.length === 0 || state.queue(request.tenant, name).info.paused) continue;
    let room = Math.min(request.limit - claimed.length, roomIn(state, request.tenant, name, request.now));
    for (const job of ready) {
      if (room <= 0) break;
      const taken = take(state, job, request);
      if (!taken) continue;
      claimed.push(taken);
      room -= 1;
    }
  }
  return claimed;
}

export const claimById = (state: MemoryState, request: ClaimByIdRequest): ClaimAnswer[] =>
  request.ids.map((id) => claimOne(state, state.get(request.tenant, id), request));

function claimOne(state: MemoryState, job: Job | undefined, request: ClaimByIdRequest): ClaimAnswer {
  if (!job) return { status: 'unknown' };
  if (isFinished(job.state)) return { status: 'finished' };
  if (job.state === 'active') return job.claimId === request.claimId ? { status: 'claimed', job } : { status: 'held' };
  if (job.state !== 'available') return { status: 'not_due' };
  if (request.queues && !request.queues.includes(job.queue)) return { status: 'elsewhere' };
  if (job.rank === null) return { status: 'parked' };
  if (state.queue(job.tenant, job.queue).info.paused) return { status: 'paused' };
  if (roomIn(state, job.tenant, job.queue, request.now) <= 0) return { status: 'parked' };
  const taken = take(state, job, request);
  // What refuses an available job is its expiry: the sweep ends it, no worker may have it.
  return taken ? { status: 'claimed', job: taken } : { status: 'not_due' };
}

function take(state: MemoryState, job: Job, request: ClaimRequest | ClaimByIdRequest): Job | undefined {
  const { claimId, workerId, leaseMs, now } = request;
  const change = transition(job, { do: 'claim', claimId, workerId, leaseMs }, now);
  if (!change) return undefined;
  state.write(change.job, change.events);
  countStart(state, job, now);
  countQueueStart(state, job, now);
  return change.job;
}

/** Not by the column, which a claimed job has no more. */
const byRank = (a: Job, b: Job): number => (rankOf(a.priority, a.seq) < rankOf(b.priority, b.seq) ? -1 : 1);
