import type { Job } from '../job/job.ts';
import { formatToken } from '../job/lease.ts';
import type { Lease } from '../waybill.ts';

/** The receipt travels in the token, so that whoever settles can delete the message. */
export function leaseOf(job: Job, receipt?: string): Lease {
  const token = { run: job.run, claimId: job.claimId! };
  return { job, token: formatToken(receipt === undefined ? token : { ...token, receipt }) };
}
