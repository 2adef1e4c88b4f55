import type { Job } from '../job/job.ts';
import type { LimitRule } from '../limits/limit.ts';

export interface LimitInfo {
  tenant: string;
  key: string;
  /** Null when nobody has set one: slots are counted but never refused, so that a rule set later starts from truth. */
  rule: LimitRule | null;
  /** Jobs that hold a slot, claimed or not. */
  holders: number;
  /** Jobs that wait for one; counting stops at a bound. */
  parked: number;
}

/**
 * A job with a limit key is claimable only while it holds a slot. Slots are taken and given back in the transactions
 * of insert, claim, apply and due; a job without one is parked and in no index that a claim reads. Parked jobs are
 * admitted by priority, then by their place in the queue.
 */
export interface LimitStore {
  /** Creates or changes a rule and admits as many parked jobs as now fit; answers them. Holders stay holders. */
  set(tenant: string, key: string, rule: LimitRule, now: number): Promise<{ admitted: Job[] }>;
  get(tenant: string, key: string): Promise<LimitInfo | null>;
}
