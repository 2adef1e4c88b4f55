import { checkQueue, type Fields, invalidField, type Jobs, type Lease } from '@waybill/core';
import type { Ctx } from '../http/env.ts';
import { goingAway } from '../http/going-away.ts';
import { leaseMsOf, workerIdOf } from './fields.ts';

const MAX_QUEUES = 100;
const MAX_COUNT = 1_000;
const LONGEST_WAIT_MS = 30_000;

export async function fetchJobs(jobs: Jobs, body: Fields, c: Ctx): Promise<Lease[]> {
  const waitMs = body.integer('wait_ms', { min: 0, max: LONGEST_WAIT_MS }) ?? 0;
  const claimId = body.has('claim_id') ? body.requiredString('claim_id') : undefined;
  const call = {
    queues: queuesOf(body),
    count: body.integer('count', { min: 1, max: MAX_COUNT }) ?? 1,
    ...workerIdOf(body),
    ...leaseMsOf(body),
    ...(claimId !== undefined && { claimId }),
  };
  if (waitMs === 0) return jobs.claim(call);
  const { signal, clientIsGone, leave } = goingAway(c);
  try {
    const leases = await jobs.claim({ ...call, waitMs, signal });
    if (!clientIsGone() || claimId !== undefined) return leases;
    await handBack(jobs, leases);
    return [];
  } finally {
    leave();
  }
}

/** Nobody will ever know of these leases, and without a claim id nobody can ask for them again. */
async function handBack(jobs: Jobs, leases: readonly Lease[]): Promise<void> {
  const calls = leases.map(({ job, token }) => ({
    id: job.id,
    tenant: job.tenant,
    leaseToken: token,
    outcome: { kind: 'requeued' as const },
  }));
  await Promise.all(calls.map((call) => jobs.settle(call)));
}

function queuesOf(body: Fields): string[] {
  const queues = body.strings('queues', { max: MAX_QUEUES });
  if (queues === undefined || queues.length === 0) {
    throw invalidField('queues', 'is required and must name at least one queue.');
  }
  return queues.map((queue, index) => checkQueue(queue, `queues[${index}]`));
}
