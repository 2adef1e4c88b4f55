import { changeOf, seen } from '../commit/row-change.ts';
import { WaybillError } from '../errors.ts';
import { evolve } from '../job/evolve.ts';
import type { Job } from '../job/job.ts';
import { seqAt } from '../job/rank.ts';
import { transition } from '../job/transition.ts';
import type { NewJob } from '../store/insert.ts';
import { isInTheWay, type UniqueRule } from './unique.ts';

/** A job on its way into the store, which may meet another one that was there before. */
export class Candidate {
  born: NewJob;
  stored: Job | undefined;
  /** The job that is answered instead of this one. */
  existing: Job | undefined;
  readonly #rule: UniqueRule | null;
  readonly #index: number | null;

  constructor(born: NewJob, rule: UniqueRule | null, index: number | null) {
    this.#rule = rule;
    this.#index = index;
    this.born = rule === null ? born : { ...born, unique: { key: rule.key, owner: null } };
  }

  get isSettled(): boolean {
    return this.stored !== undefined || this.existing !== undefined;
  }

  answer(): { job: Job; created: boolean } {
    return this.existing === undefined ? { job: this.stored!, created: true } : { job: this.existing, created: false };
  }

  /** The insert was tried again after its answer got lost: the row that is there is the one we wrote. */
  isOurs(found: Job): boolean {
    const { id, seq, createdAt } = this.born.job;
    return found.id === id && found.seq === seq && found.createdAt === createdAt;
  }

  /** A row has our id already, or our idempotency key. */
  meetTwin(how: 'exists' | 'repeated', found: Job): void {
    if (how === 'exists') throw this.#duplicate(found, `There is already a job ${found.id}.`);
    this.existing = found;
  }

  /** Somebody owns our unique key. If it is in the way, the rule says what happens; if not, it is simply succeeded. */
  meet(owner: Job, now: number): void {
    const rule = this.#rule!;
    const unique = { key: rule.key, owner: { id: owner.id, version: owner.version } };
    if (!isInTheWay(owner, rule, now)) {
      this.born = { ...this.born, unique };
      return;
    }
    switch (rule.onConflict) {
      case 'reject':
        throw this.#duplicate(owner, `Job ${owner.id} is ${owner.state} and has the same unique key.`);
      case 'ignore':
        this.existing = owner;
        return;
      case 'replace_except_schedule':
        if (owner.state === 'scheduled') this.#takeTimeOf(owner, now);
        break;
      case 'replace':
        break;
    }
    // A finished owner has nothing to cancel; it only stood in the way.
    const cancelled = transition(owner, { do: 'cancel', reason: `replaced by ${this.born.job.id}` }, now);
    const replace = cancelled && changeOf(owner, seen(owner), cancelled);
    this.born = { ...this.born, unique: replace ? { ...unique, replace } : unique };
  }

  #takeTimeOf({ scheduledAt }: Job, now: number): void {
    const { job } = this.born;
    if (scheduledAt === null || job.state === 'pending') return;
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
