import { isFinished, type Job } from '../../job/job.ts';
import type { PruneRequest } from '../prune.ts';
import { keyOf, type LimitState, type MemoryState, type QueueState } from './state.ts';

/** Removes the workers, limits, queues and counters of events that were not used for so long. */
export function pruneUnused(state: MemoryState, request: PruneRequest, limit: number): { more: boolean } {
  const { unusedBefore, eventsBefore } = request;
  if (unusedBefore === undefined) return { more: false };
  // A number must not be given out again while an event that has it is kept.
  const toldBefore = Math.min(unusedBefore, eventsBefore);
  const areKept = state.log.some(({ event }) => event.at < toldBefore);
  const living = state.rows().filter((job) => !isFinished(job.state));
  const keys = [
    ...found(state.workers, ({ lastSeenAt }) => lastSeenAt < unusedBefore).map((key) => () => {
      state.workers.delete(key);
      state.workerInstances.delete(key);
    }),
    ...found(state.limits, (one) => isUnusedLimit(one, living, unusedBefore)).map(
      (key) => () => state.limits.delete(key),
    ),
    ...found(state.queues, (one) => isUnusedQueue(one, living, unusedBefore)).map(
      (key) => () => state.queues.delete(key),
    ),
    ...found(state.counts, ({ toldAt }) => !areKept && toldAt < toldBefore).map(
      (key) => () => state.counts.delete(key),
    ),
  ];
  for (const remove of keys.slice(0, limit)) remove();
  return { more: keys.length > limit };
}

const found = <V>(map: ReadonlyMap<string, V>, test: (value: V) => boolean): string[] =>
  [...map].filter(([, value]) => test(value)).map(([key]) => key);

const isUnusedLimit = (
  { tenant, key, isSetting, usedAt }: LimitState,
  living: readonly Job[],
  before: number,
): boolean => !isSetting && usedAt < before && !living.some((job) => job.tenant === tenant && job.limitKey === key);

const isUnusedQueue = ({ info, usedAt }: QueueState, living: readonly Job[], before: number): boolean =>
  usedAt < before &&
  !info.paused &&
  info.keep === 'all' &&
  info.limit === null &&
  !living.some((job) => keyOf(job.tenant, job.queue) === keyOf(info.tenant, info.name));
