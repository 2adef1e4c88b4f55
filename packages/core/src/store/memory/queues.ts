import type { QueueInfo } from '../queues.ts';
import { keyOf, type MemoryState } from './state.ts';

export const listQueues = (state: MemoryState, tenant: string): QueueInfo[] =>
  [...state.queues.values()].filter((queue) => queue.tenant === tenant).sort((a, b) => (a.name < b.name ? -1 : 1));

export function setPaused(state: MemoryState, tenant: string, name: string, paused: boolean): QueueInfo {
  const queue = { tenant, name, paused };
  const known = state.queues.has(keyOf(tenant, name));
  if (known || paused) state.queues.set(keyOf(tenant, name), queue);
  const hasReady = state.rows().some((job) => job.tenant === tenant && job.queue === name && job.rank !== null);
  if (!paused && hasReady) state.noteWake(name);
  return queue;
}
