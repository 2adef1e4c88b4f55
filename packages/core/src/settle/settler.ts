import type { HeldJobs } from '../claim/held-jobs.ts';
import { jobNotFound, type RowWriter } from '../commit/row-writer.ts';
import { WaybillError } from '../errors.ts';
import type { Job } from '../job/job.ts';
import { holdsLease, type LeaseToken, parseToken } from '../job/lease.ts';
import type { Outcome } from '../job/outcome.ts';
import { transition } from '../job/transition.ts';
import type { Logger } from '../logger.ts';
import type { Expectation } from '../store/apply.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import type { SettleCall } from '../waybill.ts';
import { refusal } from './refusal.ts';

interface SettlerParts {
  store: Store;
  transport: Transport;
  rows: RowWriter;
  held: HeldJobs;
  logger: Logger;
}

/** Between our read and our write a heartbeat, a cancel or the sweep may come in; then we look again. */
const MAX_ROUNDS = 5;

/** Outcome -> transition -> compare-and-set -> ack the delivery, in that order. */
export class Settler {
  readonly #parts: SettlerParts;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  async settle(call: SettleCall): Promise<Job> {
    const { tenant = '', id, outcome } = call;
    const token = call.leaseToken === undefined ? undefined : parseToken(call.leaseToken);
    const job = await this.#write(tenant, id, outcome, token, call.workerId);
    this.#parts.held.forget(tenant, id);
    if (token?.receipt !== undefined) await this.#ack(job, token.receipt);
    return job;
  }

  async #write(
    tenant: string,
    id: string,
    outcome: Outcome,
    token: LeaseToken | undefined,
    workerId: string | undefined,
  ): Promise<Job> {
    const { rows, held, store } = this.#parts;
    let job: Job | null = (token && held.find(tenant, id, token)) ?? null;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      job ??= await rows.read({ tenant, id });
      if (job === null) throw jobNotFound(id);
      if (token && isRepeat(job, token, outcome)) return job;
      const after = maySpeak(job, token, workerId)
        ? transition(job, { do: 'settle', outcome }, store.clock.now())
        : null;
      if (after === null) throw refusal(job, token, workerId);
      const expect: Expectation = { by: 'lease', run: job.run, claimId: job.claimId! };
      const answer = await rows.write(job, expect, after);
      if (answer.status === 'applied' && !answer.repeated) return after.job;
      job = null;
    }
    throw new WaybillError('unavailable', `Job ${id} is being changed by others all the time. Try again.`);
  }

  /** The row is settled, so the message has done its work. If this fails, the row makes the redelivery harmless. */
  async #ack({ tenant, id, queue }: Job, receipt: string): Promise<void> {
    try {
      await this.#parts.transport.ack({ tenant, jobId: id, queue, receipt });
    } catch (error) {
      this.#parts.logger.warn({ err: error, job: id }, 'A message could not be deleted after its job was settled.');
    }
  }
}

/** The same outcome of the same run again: its answer got lost on the way, so it is given again. */
const isRepeat = (job: Job, token: LeaseToken, outcome: Outcome): boolean =>
  job.state !== 'active' && job.run === token.run && job.claimId === token.claimId && job.outcome === outcome.kind;

/** A token fences exactly, a worker's name fences runs of other workers, and without either the state must do. */
function maySpeak(job: Job, token: LeaseToken | undefined, workerId: string | undefined): boolean {
  if (token) return holdsLease(job, token);
  return job.state === 'active' && (workerId === undefined || job.workerId === workerId);
}
