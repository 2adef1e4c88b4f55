import type { HandlerContext } from '@connectrpc/connect';
import { durationMs } from '@waybill/client/rpc';
import { type ClaimCall, checkQueue, invalidField, type Lease } from '@waybill/core';
import type { ClaimRequest } from '@waybill/protocol';
import { deliveryOf, LONGEST_WAIT_MS, MAX_COUNT, MAX_QUEUES, mayTake } from '../../ojs/fetch.ts';
import type { UndeliveredClaims } from '../../ojs/undelivered.ts';
import { callOf, portFor, stay } from '../call.ts';
import { leaseMsOf, workerIdOf } from '../codec/fields.ts';

/** Takes jobs, and gives them back when their answer does not reach the client: as `fetchJobs` does it for HTTP. */
export async function claimJobs(
  request: ClaimRequest,
  context: HandlerContext,
  undelivered: UndeliveredClaims,
): Promise<Lease[]> {
  const { c } = callOf(context);
  const { jobs } = portFor(context);
  const call = claimCallOf(request);
  const key = call.claimId === undefined ? undefined : `${c.get('tenant') ?? ''}\n${call.claimId}`;
  if (key !== undefined) await undelivered.begin(key);
  const staying = stay(context);
  try {
    const leases = await jobs.claim({ ...call, signal: staying.signal });
    const isGone = staying.clientIsGone() || !(await mayTake(c, leases));
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
    staying.leave();
  }
}

function claimCallOf({ queues, count, workerId, lease, claimId, wait }: ClaimRequest): ClaimCall {
  const waitMs = wait ? durationMs(wait, 'wait') : 0;
  if (waitMs > LONGEST_WAIT_MS) throw invalidField('wait', `must be at most ${LONGEST_WAIT_MS / 1_000} seconds.`);
  if (count < 0 || count > MAX_COUNT) throw invalidField('count', `must lie between 1 and ${MAX_COUNT}.`);
  return {
    ...{ queues: checkQueues(queues, 'queues'), count: count || 1, waitMs: Math.round(waitMs) },
    ...workerIdOf(workerId),
    ...leaseMsOf(lease, 'lease'),
    ...(claimId !== '' && { claimId }),
  };
}

export function checkQueues(queues: readonly string[], field: string): string[] {
  if (queues.length === 0) throw invalidField(field, 'is required and must name at least one queue.');
  if (queues.length > MAX_QUEUES) throw invalidField(field, `must name at most ${MAX_QUEUES} queues.`);
  return queues.map((queue, index) => checkQueue(queue, `${field}[${index}]`));
}
