/** A queue exists once it was paused or has had a job. */
export interface QueueInfo {
  tenant: string;
  name: string;
  paused: boolean;
}

export interface QueueStore {
  list(tenant: string): Promise<QueueInfo[]>;
  /** A paused queue takes jobs and gives none; running jobs go on. Idempotent. */
  setPaused(tenant: string, name: string, paused: boolean): Promise<QueueInfo>;
}
