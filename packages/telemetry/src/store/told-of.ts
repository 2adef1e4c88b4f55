import type { InsertGroup, Job, NewJob } from '@waybill/core';
import type { TraceCarrier } from '../trace/trace-context.ts';
import type { Told } from './observed-calls.ts';

/** One after the other, since hardly ever all of them are looked at. */
function* tracesOf(jobs: Iterable<Job | null>): Generator<TraceCarrier> {
  for (const job of jobs) if (job) yield job.spec.meta;
}

function* rowsIn(groups: Iterable<{ jobs: readonly NewJob[] }>): Generator<Job> {
  for (const { jobs } of groups) for (const { job } of jobs) yield job;
}

export const ofJobs = (jobs: readonly (Job | null)[]): Told => ({ count: jobs.length, traces: tracesOf(jobs) });

/** For polls, which mostly find nothing. */
export const ofFound = (jobs: readonly Job[]): Told | null => (jobs.length === 0 ? null : ofJobs(jobs));

export const ofRows = (rows: readonly { job: Job }[]): Told => ({
  count: rows.length,
  traces: tracesOf(rows.map(({ job }) => job)),
});

export const ofGroups = (groups: readonly InsertGroup[]): Told => ({
  count: groups.reduce((sum, { jobs }) => sum + jobs.length, 0),
  traces: tracesOf(rowsIn(groups)),
});

/** Of a call that is about many jobs, none of which it names by more than an id. */
export const ofMany = (count: number): Told => ({ count, traces: [] });
