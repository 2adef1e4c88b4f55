import { parseDuration } from '../duration.ts';
import type { Job } from './job.ts';

type Held = Pick<Job, 'state' | 'createdAt' | 'uniqueKey' | 'spec'>;

/**
 * Until when a job that has finished stands in the way of others with its unique key: where its rule has a period and names
 * the state that it ended in. Its row stays as long, because the owner of a key is its row. Null: its end has made room.
 */
export function keyHeldUntil({ state, createdAt, uniqueKey, spec }: Held): number | null {
  if (uniqueKey === null) return null;
  const rule = spec.options?.['unique'];
  if (typeof rule !== 'object' || rule === null || Array.isArray(rule)) return null;
  const { period, states } = rule;
  if (typeof period !== 'string' || !Array.isArray(states) || !states.includes(state)) return null;
  const ms = parseDuration(period);
  return ms === undefined ? null : createdAt + ms;
}
