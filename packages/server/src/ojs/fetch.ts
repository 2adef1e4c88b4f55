import { checkQueue, type Fields, invalidField, type Jobs, type Lease } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { goingAway } from '../http/going-away.ts';
import { leaseMsOf, workerIdOf } from './fields.ts';
import type { UndeliveredClaims } from './undelivered.ts';

export const MAX_QUEUES = 100;
export const MAX_COUNT = 1_000;
export const LONGEST_WAIT_MS = 30_000;

/** Takes jobs, and gives them back when their answer does not reach the client. */
export async function fetchJobs(jobs: Jobs, body: Fields, c: Ctx, undelivered: UndeliveredClaims): Promise<Lease[]> {
  const waitMs = body.integer('wait_ms', { min: 0, max: LONGEST_WAIT_MS }) ?? 0;
  const claimId = body.has('claim_id') ? body.requiredString('claim_id') : undefined;
  const call = {
    queues: queuesOf(body),
    count: body.integer('count', { min: 1, max: MAX_COUNT }) ?? 1,
    ...workerIdOf(body),
    ...leaseMsOf(body),
    ...(claimId !== undefined && { claimId }),
  };
  const key = claimId === undefined ? undefined : `${c.get('tenant') ?? ''}\n${claimId}`;
  if (key !== undefined) await undelivered.begin(key);
  const away = waitMs === 0 ? undefined : goingAway(c);
  try {
    const leases = await jobs.claim(away ? { ...call, waitMs, signal: away.signal } : call);
    const isGone = away !== undefined && (away.clientIsGone() || !(await mayTake(c, leases)));
    const isDelivered = isGone ? Promise.resolve(false) : deliveryOf(c, leases);
    const over = undelivered.answered(key, { jobs, leases, isDelivered });
    c.env?.waitUntil?.(over);
    if (!isGone) return leases;
    await over;
    return [];
  } catch (error) {
    await undelivered.failed(key, jobs);
    throw error;
  } finally {
    away?.leave();
  }
}

/** A key may have been revoked while the call waited for jobs. */
export const mayTake = async (c: Ctx, leases: readonly Lease[]): Promise<boolean> =>
  leases.length === 0 || ((await c.get('standing')?.counts()) ?? true);

/** Where nobody can tell, and for an answer without jobs, delivered is what it counts as. */
export const deliveryOf = (c: Ctx, leases: readonly Lease[]): Promise<boolean> =>
  (leases.length > 0 && c.env?.delivered?.()) || Promise.resolve(true);

function queuesOf(body: Fields): string[] {
  const queues = body.strings('queues', { max: MAX_QUEUES });
  if (queues === undefined || queues.length === 0) {
    throw invalidField('queues', 'is required and must name at least one queue.');
  }
  return queues.map((queue, index) => checkQueue(queue, `queues[${index}]`));
}
