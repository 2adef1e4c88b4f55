import { randomUUID } from 'node:crypto';
import type { JobPayloads } from '../blobs/job-payloads.ts';
import type { FollowUp } from '../commit/follow-up.ts';
import type { Writer } from '../commit/writer.ts';
import { checkQueue } from '../enqueue/envelope.ts';
import { invalidField } from '../errors.ts';
import type { ReceiveRequest } from '../transport/transport.ts';
import type { ClaimCall, Lease } from '../waybill.ts';
import type { HeldJobs } from './held-jobs.ts';
import { type HintClaimParts, HintClaims } from './hint-claims.ts';
import { LeaseCompleter } from './lease-completer.ts';
import { leasesOf } from './lease-of.ts';
import { checkWorkerId } from './worker-id.ts';

export const MAX_CLAIM = 1_000;
const MAX_QUEUES = 100;
const MAX_LEASE_MS = 366 * 86_400_000;
const CLAIM_ID = /^[0-9A-Za-z_-]{8,64}$/;

interface ClaimerParts extends Omit<HintClaimParts, 'complete'> {
  held: HeldJobs;
  leaseMs: number;
  writer: Writer;
  /** Where payloads are kept outside of the rows. */
  payloads?: JobPayloads;
  followUp: FollowUp;
}

/** Delivery or poll -> row -> lease. */
export class Claimer {
  readonly #parts: ClaimerParts;
  readonly #hints: HintClaims;
  readonly #completer: LeaseCompleter;

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
    this.#completer = new LeaseCompleter(parts);
    this.#hints = new HintClaims({ ...parts, complete: (tenant, leases) => this.#complete(tenant, leases) });
  }

  async claim(call: ClaimCall): Promise<Lease[]> {
    const request = this.#check(call);
    const isHinted = this.#parts.transport.capabilities.delivers === 'hints';
    return isHinted ? this.#hints.claim(request) : this.#claimDirectly(request);
  }

  async #claimDirectly(request: ReceiveRequest): Promise<Lease[]> {
    const received = await this.#parts.transport.receive(request);
    return received.kind === 'claimed' ? this.#complete(request.tenant, leasesOf(received.jobs)) : [];
  }

  async #complete(tenant: string, claimed: readonly Lease[]): Promise<Lease[]> {
    const { held, followUp } = this.#parts;
    followUp.claimed(claimed.map(({ job }) => job));
    const needsMore = this.#completer.needs(claimed);
    const leases = needsMore ? await this.#completer.complete(tenant, claimed) : (claimed as Lease[]);
    for (const { job } of leases) held.remember(job);
    return leases;
  }

  idle(): Promise<void> {
    return this.#hints.idle();
  }

  #check(call: ClaimCall): ReceiveRequest {
    const { queues, count = 1, leaseMs = this.#parts.leaseMs, claimId = randomUUID(), waitMs = 0, signal } = call;
    if (!Array.isArray(queues)) throw invalidField('queues', 'must be a list of queue names.');
    if (queues.length === 0) throw invalidField('queues', 'must name at least one queue.');
    if (queues.length > MAX_QUEUES) throw invalidField('queues', `must name at most ${MAX_QUEUES} queues.`);
    queues.forEach((queue, index) => {
      checkQueue(queue, `queues[${index}]`);
    });
    checkRange('count', count, 1, MAX_CLAIM);
    checkRange('visibility_timeout_ms', leaseMs, 1, MAX_LEASE_MS);
    checkRange('wait_ms', waitMs, 0, MAX_LEASE_MS);
    if (typeof claimId !== 'string' || !CLAIM_ID.test(claimId))
      throw invalidField('claim_id', 'must be 8 to 64 letters, digits, _ or -.');
    const workerId = checkWorkerId(call.workerId ?? `anonymous-${claimId}`);
    const claim = { claimId, workerId, leaseMs };
    return { tenant: call.tenant ?? '', queues, max: count, waitMs, claim, ...(signal && { signal }) };
  }
}

function checkRange(field: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw invalidField(field, `must be an integer from ${min} to ${max}.`, { min, max });
}
