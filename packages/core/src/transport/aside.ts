/** A message that waits for people: workers take it only now and then, or never. */
export interface AsideMessage {
  id: string;
  tenant: string;
  queue: string;
  /** `redrive`: delivered again and again and never deleted. `dead`: about a dead job, or refused as a job. */
  place: 'redrive' | 'dead';
  /** `hint`: names a row. `notice`: tells that a job died. `foreign`: whatever else, which may become a job. */
  kind: 'hint' | 'notice' | 'foreign';
  /** The job that it names; null where it is a foreign one. */
  jobId: string | null;
  body: string;
  /** Why it was put aside, where that was noted. */
  reason: string | null;
  sentAt: number;
  /** For the transport. */
  receipt: string;
  message: unknown;
}

/** Messages that were put aside, where a transport has such a place. */
export interface Aside {
  /** Job queues that the transport was told of; the store may know none of them yet. */
  readonly queues: readonly string[];
  /** Takes up to so many for a while, in which nobody else gets them. Fewer: there are no more. */
  take(place: { tenant: string; queue: string }, most: number): Promise<AsideMessage[]>;
  /** Lets others have it again. */
  putBack(message: AsideMessage): Promise<void>;
  /** Sends it to the queue that it came from, then removes it. Broken off in between it is there twice, which is harmless. */
  sendBack(message: AsideMessage): Promise<void>;
  remove(message: AsideMessage): Promise<void>;
}
