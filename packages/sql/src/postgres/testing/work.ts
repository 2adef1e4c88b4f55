import type { ClaimRequest, Job, Store } from '@waybill/core';
import { type JobOverrides, settleChange, someJobs } from '@waybill/core/testing';

let claims = 0;

/** Stores jobs as of now. */
export async function add(store: Store, count: number, overrides: JobOverrides = {}): Promise<Job[]> {
  const made = someJobs(count, { createdAt: store.clock.now(), ...overrides });
  const answers = await store.insert(made.map((job) => ({ jobs: [job] })));
  return answers.map((answer) => {
    if (answer.status !== 'inserted') throw new Error(`Expected a job to be inserted, but: ${answer.status}.`);
    return answer.jobs[0]!;
  });
}

export async function claim(store: Store, limit: number, overrides: Partial<ClaimRequest> = {}): Promise<Job[]> {
  claims += 1;
  const lease = { claimId: `claim-${process.pid}-${claims}`, workerId: 'worker-1', leaseMs: 30_000 };
  const request = { tenant: '', queues: ['default'], limit, ...lease, now: store.clock.now(), ...overrides };
  const [jobs] = await store.claim([request]);
  return jobs!;
}

export async function complete(store: Store, jobs: readonly Job[]): Promise<void> {
  const outcome = { kind: 'completed', result: null } as const;
  const answers = await store.apply(jobs.map((job) => settleChange(job, outcome, store.clock.now())));
  const lost = answers.filter(({ status }) => status === 'lost').length;
  if (lost > 0) throw new Error(`Expected all to be settled, but ${lost} were lost.`);
}
