import type { Job } from '../job/job.ts';
import { holdsLease, type LeaseToken } from '../job/lease.ts';
import { SlotMap } from '../slots.ts';

/** Enough for a busy server; beyond it settling costs one read more. */
const MAX_HELD = 10_000;

/**
 * The rows that this process claimed, so that settling needs no read. Only a memory: compare-and-set decides, and a
 * row that moved on in the meantime is simply read again.
 */
export class HeldJobs {
  readonly #rows = new SlotMap<Job>();

  remember(job: Job): void {
    this.#rows.set(keyOf(job.tenant, job.id), job);
    if (this.#rows.size > MAX_HELD) this.#rows.delete(this.#rows.oldest()!);
  }

  find(tenant: string, id: string, token: LeaseToken): Job | undefined {
    const job = this.#rows.get(keyOf(tenant, id));
    return job !== undefined && holdsLease(job, token) ? job : undefined;
  }

  forget(tenant: string, id: string): void {
    this.#rows.delete(keyOf(tenant, id));
  }
}

/** Ids are unique in a tenant, and most systems have only the nameless one. */
const keyOf = (tenant: string, id: string): string => (tenant === '' ? id : `${tenant}\n${id}`);
