import { WaybillError } from '../errors.ts';
import { evolve } from '../job/evolve.ts';
import type { Job } from '../job/job.ts';
import { seqAt } from '../job/rank.ts';
import type { NewJob, UniqueClaim } from '../store/insert.ts';
import type { UniqueRule } from './unique.ts';

/** A job on its way into the store, which may meet another one that was there before. */
export class Candidate {
  born: NewJob;
  stored: Job | undefined;
  readonly rule: UniqueRule | null;
  /** What is answered instead of this one: a job of the store, or another one of the same call. */
  #existing: Job | Candidate | undefined;
  readonly #made: NewJob;
  readonly #index: number | null;

  constructor(born: NewJob, rule: UniqueRule | null, index: number | null) {
    this.rule = rule;
    this.#index = index;
    this.#made = born;
    this.born = rule === null ? born : { ...born, unique: { key: rule.key, owner: null } };
  }

  /** Whether it is to be stored. */
  get isOpen(): boolean {
    return this.#existing === undefined;
  }

  get isSettled(): boolean {
    return this.stored !== undefined || this.#existing !== undefined;
  }

  answer(): { job: Job; created: boolean } {
    const existing = this.#existing;
    if (existing === undefined) return { job: this.stored!, created: true };
    return { job: existing instanceof Candidate ? existing.answer().job : existing, created: false };
  }

  /** The insert was tried again after its answer got lost: the row that is there is the one we wrote. */
  isOurs(found: Job): boolean {
    const { id, seq, createdAt } = this.born.job;
    return found.id === id && found.seq === seq && found.createdAt === createdAt;
  }

  /** A row has our id already, or our idempotency key. */
  meetTwin(how: 'exists' | 'repeated', found: Job): void {
    if (how === 'exists') throw this.#duplicate(found, `There is already a job ${found.id}.`);
    this.#existing = found;
  }

  /** As it was before anything was decided about its unique key. */
  reset(): void {
    this.born = this.#made;
    this.#existing = undefined;
  }

  claim(unique: UniqueClaim): void {
    this.born = { ...this.born, unique };
  }

  yieldTo(other: Job | Candidate): void {
    this.#existing = other;
  }

  /** The refusal of a job whose unique key another one has; `sibling`: that one is of the same call. */
  rejected(holder: Job, sibling: Candidate | null): WaybillError {
    if (sibling === null)
      return this.#duplicate(holder, `Job ${holder.id} is ${holder.state} and has the same unique key.`);
    const details = { index: this.#index, other_index: sibling.#index };
    const message = `jobs[${this.#index}] has the same unique key as jobs[${sibling.#index}].`;
    return new WaybillError('duplicate', message, { details });
  }

  /** Takes over the time at which a scheduled job was due. */
  takeTimeOf({ state, scheduledAt }: Job, now: number): void {
    const { job } = this.born;
    if (state !== 'scheduled' || scheduledAt === null || job.state === 'pending') return;
    const due = { scheduled_at: new Date(scheduledAt).toISOString() };
    const patch = { state: 'scheduled', scheduledAt, seq: seqAt(scheduledAt, job.seq), enqueuedAt: null } as const;
    const moved = evolve({ ...job, version: 0 }, patch, [['job.scheduled', due]], now);
    this.born = { ...this.born, job: moved.job, events: moved.events };
  }

  #duplicate(found: Job, message: string): WaybillError {
    const where = this.#index === null ? {} : { index: this.#index };
    const details = { existing_job_id: found.id, existing_job_state: found.state, ...where };
    return new WaybillError('duplicate', message, { details });
  }
}
