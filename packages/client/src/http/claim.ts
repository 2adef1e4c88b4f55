import type { ClaimCall, Jobs, Lease } from '@waybill/core';
import { jobFromWire } from '../job-from-wire.ts';
import type { WireJob } from '../job-wire.ts';
import { revisionFromWire } from '../rules-wire.ts';
import type { Calls } from './calls.ts';
import { newJobId } from './job-id.ts';
import { join } from './waiting.ts';

/** The longest that a server waits in one call; a longer wait is several of them. */
const LONGEST_WAIT_MS = 30_000;

/** One call of a claim: it may be sent again, and waits this long for a first job. */
export interface ClaimAttempt extends Omit<ClaimCall, 'claimId' | 'tenant'> {
  claimId: string;
  tenant: string;
  waitMs: number;
}

export interface ClaimCalls {
  tenantOf(call: { tenant?: string | undefined }): string;
  readonly closing: AbortSignal;
}

export const claiming = (calls: Calls): Jobs['claim'] =>
  claimingBy(calls, async ({ tenant, waitMs, signal, claimId, ...call }) => {
    const { queues, count, workerId: worker_id, leaseMs: visibility_timeout_ms } = call;
    const { jobs } = await calls.call<{ jobs: WireJob[] }>('POST', '/ojs/v1/workers/fetch', {
      tenant,
      body: { queues, count, worker_id, visibility_timeout_ms, claim_id: claimId, wait_ms: waitMs },
      repeatable: true,
      waitMs,
      ...(signal && { signal }),
    });
    return jobs.map((wire) => leaseOf(wire, claimId, calls.whose(tenant)));
  });

/** Every claim has an id, so that a repetition answers the same jobs and no lease is lost with an answer. */
export function claimingBy(calls: ClaimCalls, send: (attempt: ClaimAttempt) => Promise<Lease[]>): Jobs['claim'] {
  return async (call) => {
    const tenant = calls.tenantOf(call);
    const { signal, claimId = newJobId(), waitMs = 0, ...rest } = call;
    const ask = (wait: number, until?: AbortSignal): Promise<Lease[]> =>
      send({ ...rest, tenant, claimId, waitMs: wait, ...(until && { signal: until }) });
    if (waitMs === 0 || signal?.aborted) return ask(0);
    const begun = performance.now();
    const away = join(signal, calls.closing);
    try {
      for (;;) {
        const left = Math.max(0, Math.round(waitMs - (performance.now() - begun)));
        const leases = await ask(Math.min(left, LONGEST_WAIT_MS), away.signal);
        if (leases.length > 0 || left <= LONGEST_WAIT_MS || away.signal.aborted) return leases;
      }
    } catch (error) {
      if (calls.closing.aborted) return [];
      if (!signal?.aborted) throw error;
      // Jobs may have been granted while we hung up, and would be held by nobody: asked again, they are answered.
      return ask(0);
    } finally {
      away.leave();
    }
  };
}

export function leaseOf(wire: WireJob, claimId: string, tenant: string): Lease {
  const { lease_token: token = '', parent_results: parentResults, revision, last_checkpoint: checkpoint } = wire;
  const job = { ...jobFromWire(wire, tenant), claimId };
  const given = {
    ...(parentResults && { parentResults }),
    ...(revision && { revision: { ...revisionFromWire(revision), previous: revision.previous } }),
  };
  return { token, job, ...given, ...(checkpoint && { checkpoint }) };
}
