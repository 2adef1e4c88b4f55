import { randomUUID } from 'node:crypto';
import { checkQueue } from '../enqueue/envelope.ts';
import { invalidField } from '../errors.ts';
import type { Job } from '../job/job.ts';
import { formatToken } from '../job/lease.ts';
import type { Logger } from '../logger.ts';
import type { ClaimAnswer, ClaimByIdRequest } from '../store/claim.ts';
import type { Store } from '../store/store.ts';
import type { Delivery, ReceiveRequest, Transport } from '../transport/transport.ts';
import type { ClaimCall, Lease } from '../waybill.ts';
import type { HeldJobs } from './held-jobs.ts';
import { checkWorkerId } from './worker-id.ts';

export const MAX_CLAIM = 1_000;
const MAX_QUEUES = 100;
const MAX_LEASE_MS = 366 * 86_400_000;
const CLAIM_ID = /^[0-9A-Za-z_-]{8,64}$/;

/** How long a hint stays away whose job is held by another worker: by then that lease may be over. */
const HELD_DELAY_MS = 60_000;

interface ClaimerParts {
  store: Store;
  transport: Transport;
  held: HeldJobs;
  logger: Logger;
  leaseMs: number;
  onClaimed(job: Job): void;
}

/** Delivery or poll -> row -> lease. */
export class Claimer {
  readonly #parts: ClaimerParts;

  constructor(parts: ClaimerParts) {
    this.#parts = parts;
  }

  async claim(call: ClaimCall): Promise<Lease[]> {
    const request = this.#check(call);
    const received = await this.#parts.transport.receive(request);
    const leases =
      received.kind === 'claimed'
        ? received.jobs.map((job) => leaseOf(job))
        : await this.#claimHinted(request, received.deliveries);
    for (const { job } of leases) {
      this.#parts.held.remember(job);
      this.#parts.onClaimed(job);
    }
    await Promise.all([this.#addParentResults(request.tenant, leases), this.#addCheckpoints(request.tenant, leases)]);
    return leases;
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

  /** Claims what the hints name, and tells the transport which hints are of no more use. */
  async #claimHinted({ tenant, claim }: ReceiveRequest, deliveries: readonly Delivery[]): Promise<Lease[]> {
    if (deliveries.length === 0) return [];
    const { store, transport, logger } = this.#parts;
    const ids = deliveries.map(({ jobId }) => jobId);
    const request: ClaimByIdRequest = { tenant, ids, ...claim, now: store.clock.now() };
    const answers = await store.claimById(request);
    const leases: Lease[] = [];
    await Promise.all(
      deliveries.map(async (delivery, index) => {
        const answer = answers[index]!;
        if (answer.status === 'claimed') leases.push(leaseOf(answer.job, delivery.receipt));
        else await retire(transport, delivery, answer);
      }),
    ).catch((error: unknown) =>
      logger.warn({ err: error }, 'A useless hint could not be given back; the row makes it harmless.'),
    );
    return leases;
  }
}

/** Finished, unknown, parked or not due: the row's `nextAt` brings the job back. Paused or held: look again later. */
async function retire(transport: Transport, delivery: Delivery, { status }: ClaimAnswer): Promise<void> {
  if (status === 'held') await transport.release(delivery, HELD_DELAY_MS);
  else await transport.ack(delivery);
}

function leaseOf(job: Job, receipt?: string): Lease {
  const token = { run: job.run, claimId: job.claimId! };
  return { job, token: formatToken(receipt === undefined ? token : { ...token, receipt }) };
}

function checkRange(field: string, value: number, min: number, max: number): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  throw invalidField(field, `must be an integer from ${min} to ${max}.`, { min, max });
}
