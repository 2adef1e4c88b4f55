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

type Writable = { -readonly [K in keyof Job]: Job[K] };

/**
 * Applies a patch, recomputes what is derived and numbers the events. The version counts events, so that a job's
 * events are gap-free by construction: a change without an event leaves the version alone.
 */
export function evolve(before: Job, patch: Patch, facts: readonly Fact[], now: number): Transition {
  // Copied once: a row is wide, and this is done for every run.
  return told({ ...before, ...patch }, facts, now);
}

/** The same for a row that nobody else has seen yet, so that it need not be copied. */
export function told(job: Writable, facts: readonly Fact[], now: number): Transition {
  const before = job.version;
  job.version = before + facts.length;
  job.rank = rankFor(job);
  job.nextAt = nextAtFor(job);
  const events: JobEvent[] = [];
  for (const fact of facts) events.push(eventOf(job, fact, before + 1 + events.length, now));
  return { job, events };
}

/** Shared by all events that have no more to tell, which are most of them. */
const NO_DATA: JsonObject = Object.freeze({});

function eventOf(job: Job, [type, data = NO_DATA]: Fact, sequence: number, at: number): JobEvent {
  const { tenant, id: jobId, type: jobType, queue, run, attempt } = job;
  const traceId = TRACELESS.has(type) ? undefined : traceIdOf(job.spec.meta);
  const whole = traceId === undefined ? data : { ...data, trace_id: traceId };
  return { type, tenant, jobId, jobType, queue, run, attempt, source: 'server', sequence, at, data: whole };
}

/** PostgreSQL writes this one itself when it claims, and does not read what the producer sent. */
const TRACELESS: ReadonlySet<JobEventType> = new Set(['job.started']);

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-/;

/** A producer names its trace in `meta`, as `trace_id` or in the `traceparent` of the W3C. */
function traceIdOf({ trace_id: traceId, traceparent }: JsonObject): string | undefined {
  if (typeof traceId === 'string') return traceId;
  return typeof traceparent === 'string' ? TRACEPARENT.exec(traceparent)?.[1] : undefined;
}
