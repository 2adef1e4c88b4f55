/** How many jobs of one key may hold a slot at once. Changes at run time apply to the next admission. */
export interface LimitSettings {
  tenant: string;
  key: string;
  concurrency: number;
}

export interface LimitInfo extends LimitSettings {
  holders: number;
}

/**
 * A job with a limit key is claimable only while it holds a slot. Slots are taken and given back in the transactions
 * of insert and apply; a job without one is parked and in no index that a claim reads.
 */
export interface LimitStore {
  /** Creates or changes a limit and admits as many parked jobs as now fit; answers how many. */
  set(settings: LimitSettings): Promise<{ admitted: number }>;
  get(tenant: string, key: string): Promise<LimitInfo | null>;
}
