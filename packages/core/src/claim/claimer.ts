import { randomUUID } from 'node:crypto';
import { checkQueue } from '../enqueue/envelope.ts';
import { invalidField } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { ReceiveRequest } from '../transport/transport.ts';
import type { ClaimCall, Lease } from '../waybill.ts';
import type { HeldJobs } from './held-jobs.ts';
import { type HintClaimParts, HintClaims } from './hint-claims.ts';
import { leasesOf } from './lease-of.ts';
import { checkWorkerId } from './worker-id.ts';

export const MAX_CLAIM = 1_000;
const MAX_QUEUES = 100;
const MAX_LEASE_MS = 366 * 86_400_000;
const CLAIM_ID = /^[0-9A-Za-z_-]{8,64}$/;

interface ClaimerParts extends HintClaimParts {
  held: HeldJobs;
  leaseMs: number;
  onClaimed(jobs: readonly Job[]): void;
}

/** Delivery or poll -> row -> lease. */
export class Claimer {
  readonly #parts: ClaimerParts;
  readonly #hints: HintClaims;

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
    this.#hints = new HintClaims(parts);
  }

  async claim(call: ClaimCall): Promise<Lease[]> {
    const request = this.#check(call);
    const isHinted = this.#parts.transport.capabilities.delivers === 'hints';
    const leases = await (isHinted ? this.#hints.claim(request) : this.#claimDirectly(request));
    const { held, onClaimed } = this.#parts;
    for (const { job } of leases) held.remember(job);
    onClaimed(leases.map(({ job }) => job));
    if (leases.some(needsMore)) {
      await Promise.all([this.#addParentResults(request.tenant, leases), this.#addCheckpoints(request.tenant, leases)]);
    }
    return leases;
  }

  idle(): Promise<void> {
    return this.#hints.idle();
  }

  /** Nodes of a workflow get what their parents came to; one read for all of them, none for plain jobs. */
  async #addParentResults(tenant: string, leases: readonly Lease[]): Promise<void> {
    for (const lease of leases) {
      const handed = lease.job.spec.options?.['parent_results'];
      if (Array.isArray(handed)) lease.parentResults = handed;
    }
    const nodes = leases.filter(({ job }) => job.workflowId !== null);
    if (nodes.length === 0) return;
    const families = await this.#parts.store.workflows.parents({ tenant, ids: nodes.map(({ job }) => job.id) });
    nodes.forEach((lease, index) => {
      const parents = families[index]!;
      if (parents.length > 0) lease.parentResults = parents.map(({ result }) => result);
    });
  }

  /** One read for all that ran before, none for jobs in their first run. */
  async #addCheckpoints(tenant: string, leases: readonly Lease[]): Promise<void> {
    const again = leases.filter(({ job }) => job.run > 1);
    if (again.length === 0) return;
    const known = await this.#parts.store.reports.get(again.map(({ job }) => ({ tenant, id: job.id })));
    again.forEach((lease, index) => {
      const checkpoint = known[index]?.checkpoint;
      if (checkpoint) lease.checkpoint = checkpoint;
    });
  }

  #check(call: ClaimCall): ReceiveRequest {
    const { queues, count = 1, leaseMs = this.#parts.leaseMs, claimId = randomUUID(), waitMs = 0, signal } = call;
    if (queues.length === 0) throw invalidField('queues', 'must name at least one queue.');
    if (queues.length > MAX_QUEUES) throw invalidField('queues', `must name at most ${MAX_QUEUES} queues.`);
    queues.forEach((queue, index) => {
      checkQueue(queue, `queues[${index}]`);
    });
    checkRange('count', count, 1, MAX_CLAIM);
    checkRange('visibility_timeout_ms', leaseMs, 1, MAX_LEASE_MS);
    checkRange('wait_ms', waitMs, 0, MAX_LEASE_MS);
    if (!CLAIM_ID.test(claimId)) throw invalidField('claim_id', 'must be 8 to 64 letters, digits, _ or -.');
    const workerId = checkWorkerId(call.workerId ?? `anonymous-${claimId}`);
    const claim = { claimId, workerId, leaseMs };
    return { tenant: call.tenant ?? '', queues, max: count, waitMs, claim, ...(signal && { signal }) };
  }

  async #claimDirectly(request: ReceiveRequest): Promise<Lease[]> {
    const received = await this.#parts.transport.receive(request);
    return received.kind === 'claimed' ? leasesOf(received.jobs) : [];
  }
}

/** Hardly any job does: it is a node of a workflow, or was one elsewhere, or runs again. */
const needsMore = ({ job }: Lease): boolean =>
  job.run > 1 || job.workflowId !== null || job.spec.options?.['parent_results'] !== undefined;

function checkRange(field: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw invalidField(field, `must be an integer from ${min} to ${max}.`, { min, max });
}
