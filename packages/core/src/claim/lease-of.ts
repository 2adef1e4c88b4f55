import type { Job } from '../job/job.ts';
import { formatToken } from '../job/lease.ts';
import type { Lease } from '../waybill.ts';

/** The receipt travels in the token, so that whoever settles can delete the message. */
export function leaseOf(job: Job, receipt?: string): Lease {
  const token = { run: job.run, claimId: job.claimId! };
  return { job, token: formatToken(receipt === undefined ? token : { ...token, receipt }) };
}

/** Leases of jobs that were claimed together: most of them have the same token, which is made once. */
export function leasesOf(jobs: readonly Job[]): Lease[] {
  let [run, claimId, token] = [0, '', ''];
  return jobs.map((job) => {
    if (job.run !== run || job.claimId !== claimId) {
      [run, claimId] = [job.run, job.claimId!];
      token = formatToken({ run, claimId });
    }
    return { job, token };
  });
}
