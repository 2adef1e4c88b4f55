import { isDeepStrictEqual } from 'node:util';
import type { Told } from '../../events/subject-event.ts';
import type { Job } from '../../job/job.ts';
import { claimed, freeSlots, type LimitRule, nextAdmission } from '../../limits/limit.ts';
import type { OpeningQuery } from '../claim.ts';
import type { QueueInfo, QueueKeep, QueueStats } from '../queues.ts';
import { windowUnder } from './slots.ts';
import { keyOf, type MemoryState, type QueueState } from './state.ts';
import { roomOf } from './tenants.ts';

export const listQueues = (state: MemoryState, tenant: string): QueueInfo[] =>
  [...state.queues.values()]
    .map((queue) => queue.info)
    .filter((queue) => queue.tenant === tenant)
    .sort((a, b) => (a.name < b.name ? -1 : 1));

export function queueStats(
  state: MemoryState,
  tenant: string,
  name: string,
  { atMost }: { atMost: number },
): QueueStats | null {
  const queue = state.queues.get(keyOf(tenant, name));
  if (!queue) return null;
  const jobs = jobsOf(state, queue);
  const count = (test: (job: Job) => boolean): number => Math.min(atMost, jobs.filter(test).length);
  const ready = jobs.filter((job) => job.rank !== null).sort((a, b) => (a.rank! < b.rank! ? -1 : 1));
  return {
    ...queue.info,
    available: count((job) => job.rank !== null),
    parked: count((job) => job.state === 'available' && job.rank === null),
    scheduled: count((job) => job.state === 'scheduled'),
    retryable: count((job) => job.state === 'retryable'),
    pending: count((job) => job.state === 'pending'),
    active: count((job) => job.state === 'active'),
    ...queue.ended,
    oldestAt: ready[0]?.enqueuedAt ?? null,
  };
}

export function setPaused(state: MemoryState, tenant: string, name: string, paused: boolean, told?: Told): QueueInfo {
  return change(state, tenant, name, { paused }, paused, told);
}

export function setQueueLimit(
  state: MemoryState,
  tenant: string,
  name: string,
  limit: LimitRule | null,
  told?: Told,
): QueueInfo {
  return change(state, tenant, name, { limit }, limit !== null, told);
}

export function setKeep(state: MemoryState, tenant: string, name: string, keep: QueueKeep, told?: Told): QueueInfo {
  return change(state, tenant, name, { keep }, keep === 'none', told);
}

/** Undoing what was never done makes no queue. */
function change(
  state: MemoryState,
  tenant: string,
  name: string,
  patch: Partial<QueueInfo>,
  makesQueue: boolean,
  told: Told | undefined,
): QueueInfo {
  const known = state.queues.get(keyOf(tenant, name));
  if (!known && !makesQueue) return { tenant, name, paused: false, keep: 'all', limit: null };
  const queue = known ?? state.queue(tenant, name);
  const info = { ...queue.info, ...patch };
  queue.window = windowUnder(info.limit, queue.info.limit, queue.window);
  if (told && !isDeepStrictEqual(info, queue.info)) state.tellOf(told);
  queue.info = info;
  if (jobsOf(state, queue).some((job) => job.rank !== null)) state.noteWake(queue);
  return info;
}

/** How many more jobs the limits of a queue and of its tenant let start now. */
export function roomIn(state: MemoryState, tenant: string, name: string, now: number): number {
  const queue = state.queue(tenant, name);
  const room = roomOf(state, tenant);
  return queue.info.limit === null ? room : Math.min(room, freeSlots(queue.info.limit, useOf(state, queue), now));
}

/** When a rate lets go of something that a ready job waits for. */
export function opensAt(state: MemoryState, { tenant, queues, now }: OpeningQuery): number | null {
  const moments = queues.flatMap((name) => {
    const queue = state.queues.get(keyOf(tenant, name));
    if (!queue || queue.info.paused || queue.info.limit === null) return [];
    const isAwaited = jobsOf(state, queue).some((job) => job.rank !== null);
    return (isAwaited ? nextAdmission(queue.info.limit, useOf(state, queue), now) : null) ?? [];
  });
  return moments.length === 0 ? null : Math.min(...moments);
}

export function countQueueStart(state: MemoryState, job: Job, now: number): void {
  const queue = state.queue(job.tenant, job.queue);
  if (queue.info.limit !== null) queue.window = claimed(queue.info.limit, useOf(state, queue), 1, now).window;
}

/** A queue gives nothing out before the claim, so nobody holds a place without running. */
const useOf = (state: MemoryState, queue: QueueState) => ({
  holders: jobsOf(state, queue).filter((job) => job.state === 'active').length,
  unclaimed: 0,
  window: queue.window,
});

const jobsOf = (state: MemoryState, { info }: QueueState): Job[] =>
  state.rows().filter((job) => job.tenant === info.tenant && job.queue === info.name);
