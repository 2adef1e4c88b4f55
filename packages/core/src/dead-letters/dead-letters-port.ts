import type { ErrorCode } from '../errors.ts';
import type { Job } from '../job/job.ts';
import type { JobFilter, JobPage } from '../store/query.ts';
import type { AsideMessage } from '../transport/aside.ts';

interface InTenant {
  tenant?: string;
}

/** Which jobs, and how many of them. */
export interface ListQuery {
  filter?: Partial<JobFilter>;
  /** 1 to 1,000. @defaultValue 50 */
  limit?: number;
  cursor?: string;
}

export interface DeadLetters {
  list(query?: ListQuery): Promise<JobPage>;
  get(id: string, context?: InTenant): Promise<Job>;
  replay(id: string, context?: InTenant): Promise<Job>;
  /**
   * Replays what matches, in slices; goes on where it stopped when called again. A letter whose unique key belongs to
   * another job by now is skipped.
   */
  replayMany(filter: Partial<JobFilter>, bound?: { atMost?: number }): Promise<{ replayed: number } & BulkAnswer>;
  /** Takes the job out of the dead-letter set; its row stays until retention removes it. */
  discard(id: string, context?: InTenant): Promise<Job>;
  discardMany(filter: Partial<JobFilter>, bound?: { atMost?: number }): Promise<{ discarded: number } & BulkAnswer>;
  /** How many match; counting stops at a bound. */
  stats(filter?: Partial<JobFilter>): Promise<{ total: number; exact: boolean }>;
  /** Messages that wait for people. Absent where no transport keeps any, and with a server in between. */
  readonly messages?: DeadMessages;
}

interface BulkAnswer {
  /** Whether some were left because of the bound. */
  more: boolean;
  /** Letters that match and could not be changed, the first 100 by name. Absent where there are none. */
  skipped?: { total: number; items: readonly SkippedLetter[] };
}

/** A dead letter that stayed as it was, and why. */
export interface SkippedLetter {
  id: string;
  code: ErrorCode;
  message: string;
}

/** What lies in redrive and dead queues beside the rows. */
export interface DeadMessages {
  /** Without the notices of dead jobs, whose rows are dead letters themselves. */
  list(query: InTenant & { queues?: readonly string[]; limit: number }): Promise<DeadMessage[]>;
  /**
   * Sends messages back to where workers receive them, and removes those whose rows have no use for them. Notices of jobs
   * that live again go too, and are not counted.
   */
  replay(
    query: InTenant & { queues?: readonly string[] },
    bound?: { atMost?: number },
  ): Promise<{ replayed: number; removed: number }>;
}

export type DeadMessage = Omit<AsideMessage, 'receipt' | 'message'>;
