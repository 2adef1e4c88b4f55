import type { Explanation, JobState, JsonObject, Reason, ReasonCode } from '@waybill/core';
import { present } from './present.ts';
import { toRfc3339 } from './time.ts';

/** Why a job is where it is. */
export interface WireExplanation {
  job_id: string;
  /** Absent where the row of the job cannot be read. */
  state?: JobState;
  at: string;
  reasons: WireReason[];
}

export interface WireReason {
  code: ReasonCode;
  message: string;
  hint?: string;
  details: JsonObject;
  jobs?: WireRelatedJob[];
  /** How many more jobs there are that the caller may not see. */
  hidden?: number;
}

export interface WireRelatedJob {
  id: string;
  type: string;
  queue: string;
  state: JobState;
  node?: string;
  worker_id?: string;
}

export function explanationToWire({ jobId, state, at, reasons }: Explanation): WireExplanation {
  return { job_id: jobId, ...present('state', state), at: toRfc3339(at), reasons: reasons.map(reasonToWire) };
}

const reasonToWire = ({ jobs, ...reason }: Reason): WireReason => ({
  ...reason,
  ...(jobs && { jobs: jobs.map(({ workerId, ...job }) => ({ ...job, ...present('worker_id', workerId) })) }),
});

export function explanationFromWire({ job_id: jobId, state, at, reasons }: WireExplanation): Explanation {
  return { jobId, state: state ?? null, at: Date.parse(at), reasons: reasons.map(reasonFromWire) };
}

const reasonFromWire = ({ jobs, ...reason }: WireReason): Reason => ({
  ...reason,
  ...(jobs && { jobs: jobs.map(({ worker_id, ...job }) => ({ ...job, ...present('workerId', worker_id) })) }),
});
