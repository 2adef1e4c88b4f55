import { createHash } from 'node:crypto';

/** In the order in which they are drained. */
export const TIERS = ['high', 'default', 'low'] as const;
export type Tier = (typeof TIERS)[number];

/** `redrive` gets what was received three times and never deleted; `dead` tells of jobs that have died. */
export type Role = Tier | 'redrive' | 'dead';

export const ROLES: readonly Role[] = [...TIERS, 'redrive', 'dead'];

/** A job queue of a tenant, which has an SQS queue for every role. */
export interface Place {
  tenant: string;
  queue: string;
}

const MOST = 80;
const DIGEST = 10;

export const tierOf = (priority: number): Tier => (priority > 0 ? 'high' : priority < 0 ? 'low' : 'default');

/**
 * `{stem}-{queue}-{role}`, and the tenant before the queue where there is one. SQS allows neither dots nor more than 80
 * characters: whatever does not fit is shortened and told apart by a digest of the true name.
 */
export function queueName(stem: string, { tenant, queue }: Place, role: Role): string {
  const parts = tenant === '' ? [stem, queue, role] : [stem, tenant, queue, role];
  const plain = parts.join('-');
  const isPlain = tenant === '' && /^[A-Za-z0-9_-]+$/.test(plain) && plain.length <= MOST;
  if (isPlain) return plain;
  const digest = createHash('sha256')
    .update(JSON.stringify([tenant, queue]))
    .digest('hex')
    .slice(0, DIGEST);
  const ending = `-${digest}-${role}`;
  const legible = parts
    .slice(0, -1)
    .join('-')
    .replaceAll(/[^A-Za-z0-9_-]/g, '_');
  return legible.slice(0, MOST - ending.length) + ending;
}
