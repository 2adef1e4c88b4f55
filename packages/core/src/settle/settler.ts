import type { HeldJobs } from '../claim/held-jobs.ts';
import { jobNotFound } from '../commit/row-change.ts';
import type { Writer } from '../commit/writer.ts';
import { WaybillError } from '../errors.ts';
import type { SubjectEvent } from '../events/subject-event.ts';
import type { Transition } from '../job/evolve.ts';
import { isToAdvance, type Job } from '../job/job.ts';
import { holdsLease, type LeaseToken, parseToken } from '../job/lease.ts';
import type { Outcome } from '../job/outcome.ts';
import { transition } from '../job/transition.ts';
import type { Logger } from '../logger.ts';
import { checkId } from '../read-query.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import type { SettleCall } from '../waybill.ts';
import { checkQueueOf, refusal } from './refusal.ts';

interface SettlerParts {
  store: Store;
  transport: Transport;
  writer: Writer;
  held: HeldJobs;
  logger: Logger;
  /** A run that was settled before: by a call whose answer got lost, or in a transaction that has committed since. */
  onRepeated(job: Job): void;
  /** What the log says of its workflow. */
  stepOf(job: Job): Promise<SubjectEvent | null>;
  /** A worker has handed the job back and said why. */
  onHandedBack(job: Job): void;
  /** Lets go on what waited for this node. */
  advance(job: Job): Promise<void>;
}

/** Between our read and our write a heartbeat, a cancel or the sweep may come in; then we look again. */
const MAX_ROUNDS = 5;

/** Outcome -> transition -> compare-and-set -> ack the delivery, in that order. */
export class Settler {
  readonly #parts: SettlerParts;

  constructor(parts: SettlerParts) {
    this.#parts = parts;
  }

  /** In one frame: hundreds of calls wait for the same flush, and each holds whatever it is made of until then. */
  async settle(call: SettleCall): Promise<Job> {
    const { tenant = '', id, within } = call;
    checkId(id);
    const { held, writer } = this.#parts;
    const token = call.leaseToken === undefined ? undefined : parseToken(call.leaseToken);
    const rows = within ? writer.within(within) : writer;
    let job: Job | null = (token && held.find(tenant, id, token)) ?? null;
    let after: Transition | null = null;
    for (let round = 0; ; round += 1) {
      if (round === MAX_ROUNDS) throw alwaysChanged(id);
      job ??= await rows.read({ tenant, id });
      if (job === null) throw jobNotFound(id);
      after = this.#decide(job, call, token);
      if (after === null) break;
      const step = after.job.workflowId === null ? null : await this.#parts.stepOf(after.job);
      const told = step ? { ...after, events: [...after.events, step] } : after;
      const answer = await rows.write(job, { by: 'lease', run: job.run, claimId: job.claimId! }, told);
      if (answer.status === 'applied' && !answer.repeated) break;
      job = null;
    }
    const settled = after?.job ?? job;
    held.forget(tenant, id);
    // Before the commit the message must stay; whoever settles after it, as a repetition, deletes it.
    if (token?.receipt !== undefined && !within) await this.#ack(settled, token.receipt);
    if (call.outcome.kind === 'snoozed' && 'error' in call.outcome) this.#parts.onHandedBack(settled);
    // Before the commit nobody may build on it.
    if (isToAdvance(settled) && !within) await this.#parts.advance(settled);
    return settled;
  }

  /** Null: it was settled before, and just so. */
  #decide(
    job: Job,
    { outcome, workerId, within, queue }: SettleCall,
    token: LeaseToken | undefined,
  ): Transition | null {
    const { store, onRepeated } = this.#parts;
    checkQueueOf(job, queue);
    if (token && isRepeat(job, token, outcome)) {
      if (!within) onRepeated(job);
      return null;
    }
    const after = maySpeak(job, token, workerId) ? transition(job, { do: 'settle', outcome }, store.clock.now()) : null;
    if (after === null) throw refusal(job, token, workerId);
    return after;
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

const alwaysChanged = (id: string): WaybillError =>
  new WaybillError('unavailable', `Job ${id} is being changed by others all the time. Try again.`);

/** The same outcome of the same run again: its answer got lost on the way, so it is given again. */
const isRepeat = (job: Job, token: LeaseToken, outcome: Outcome): boolean =>
  job.state !== 'active' && job.run === token.run && job.claimId === token.claimId && job.outcome === outcome.kind;

/** A token fences exactly, a worker's name fences runs of other workers, and without either the state must do. */
function maySpeak(job: Job, token: LeaseToken | undefined, workerId: string | undefined): boolean {
  if (token) return holdsLease(job, token);
  return job.state === 'active' && (workerId === undefined || job.workerId === workerId);
}
