import type { JobState, JsonObject, Progress } from '@waybill/core';
import { present } from './present.ts';
import { fromRfc3339, toRfc3339 } from './time.ts';

/** Progress as the specification's extension has it: null where nothing was reported, never absent. */
export interface WireProgress {
  job_id: string;
  state: JobState;
  progress: number | null;
  data: JsonObject | null;
  updated_at: string | null;
  /** Which run said it, and how often it has spoken. */
  run?: number;
  number?: number;
  sequence?: number;
  checkpoint?: JsonObject;
}

/** A completed job is all done, whatever its last report was. */
export function progressToWire(job: { id: string; state: JobState }, known: Progress | null): WireProgress {
  const { id: job_id, state } = job;
  if (known === null) return { job_id, state, progress: null, data: null, updated_at: null };
  const { fraction, data, at, run, number, sequence, checkpoint } = known;
  const progress = state === 'completed' ? 1 : fraction;
  return {
    ...{ job_id, state, progress, data, updated_at: toRfc3339(at), run, number, sequence },
    ...present('checkpoint', checkpoint),
  };
}

export function progressFromWire(wire: WireProgress, tenant: string): Progress | null {
  const at = fromRfc3339(wire.updated_at ?? undefined);
  if (at === null) return null;
  const { job_id: id, run = 0, number = 0, sequence = 0, progress: fraction, data, checkpoint = null } = wire;
  return { tenant, id, run, number, sequence, fraction, data, checkpoint, at };
}
