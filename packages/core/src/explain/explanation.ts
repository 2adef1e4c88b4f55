import type { Job, JobState } from '../job/job.ts';
import type { JsonObject } from '../json.ts';
import type { ReasonCode } from './codes.ts';

/** Why a job is where it is: all that keeps it from running now, or what it came to. */
export interface Explanation {
  jobId: string;
  /** Null where its row cannot be read. */
  state: JobState | null;
  /** By the clock of the store. */
  at: number;
  /** Never empty. What the job itself says comes first, then its queue, its limits, its workflow and the workers. */
  reasons: Reason[];
}

/** Texts have the id of no other job: those are in `jobs` alone, so that a caller can be shown the ones that it may see. */
export interface Reason {
  code: ReasonCode;
  /** One or two sentences. */
  message: string;
  /** What to do about it, with a command where there is one. */
  hint?: string;
  /** Facts in the words of the HTTP interface. `until`: when it ends by itself. */
  details: JsonObject;
  /** The jobs that it is about, the first few. */
  jobs?: RelatedJob[];
  /** How many of them the caller may not see. */
  hidden?: number;
}

export interface RelatedJob {
  id: string;
  type: string;
  queue: string;
  state: JobState;
  /** Its name in the same workflow. */
  node?: string;
  /** Who runs it, while it is active. */
  workerId?: string;
}

export function relatedJob({ id, type, queue, state, node, workerId }: Job): RelatedJob {
  return {
    ...{ id, type, queue, state },
    ...(node !== null && { node }),
    ...(state === 'active' && workerId !== null && { workerId }),
  };
}
