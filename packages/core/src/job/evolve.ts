import type { JobEvent, JobEventType } from '../events/job-event.ts';
import type { JsonObject } from '../json.ts';
import type { Job } from './job.ts';
import { nextAtFor } from './next-at.ts';
import { rankFor } from './rank.ts';

/** A row's new values and the events that tell of the change. */
export interface Transition {
  job: Job;
  events: JobEvent[];
}

/** What happened, in order; each becomes one event. */
export type Fact = [type: JobEventType, data?: JsonObject];

type Patch = Partial<Omit<Job, 'tenant' | 'id' | 'rank' | 'nextAt' | 'version' | 'spec'>>;

/**
 * Applies a patch, recomputes what is derived and numbers the events. The version counts events, so that a job's
 * events are gap-free by construction: a change without an event leaves the version alone.
 */
export function evolve(before: Job, patch: Patch, facts: readonly Fact[], now: number): Transition {
  const merged = { ...before, ...patch, version: before.version + facts.length };
  const job: Job = { ...merged, rank: rankFor(merged), nextAt: nextAtFor(merged) };
  return { job, events: facts.map((fact, index) => eventOf(job, fact, before.version + 1 + index, now)) };
}

function eventOf(job: Job, [type, data = {}]: Fact, sequence: number, at: number): JobEvent {
  const { tenant, id: jobId, type: jobType, queue, run, attempt } = job;
  return { type, tenant, jobId, jobType, queue, run, attempt, source: 'server', sequence, at, data };
}
