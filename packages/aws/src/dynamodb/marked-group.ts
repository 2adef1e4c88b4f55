import type { InsertGroup, Job, LogEvent, NewJob } from '@waybill/core';
import type { Base } from './base.ts';
import { limitLine } from './locks.ts';
import type { OpenSegments } from './log-writer.ts';
import { toldOf } from './queue-book.ts';

/** A group with the marks of its jobs and of the owners that they replace. */
export interface MarkedGroup extends InsertGroup {
  marks: readonly string[];
  replaceMarks: readonly string[];
  segments: OpenSegments;
}

/**
 * One segment for the whole call: each job is a change, and so is each owner that is replaced. `facts` are the changes
 * that tell of something else in the same transaction.
 */
export async function openLog(base: Base, groups: readonly InsertGroup[], facts: readonly LogEvent[][] = []) {
  const forgetful = await base.queues.forgetful(groups.flatMap(({ jobs }) => jobs.map(({ job }) => job)));
  const changes = groups.map(({ jobs }) => [
    ...jobs.map(({ job, events }) => toldOf(events, forgetful(job))),
    ...jobs.map(({ unique }) => unique?.replace?.events ?? []),
  ]);
  const segments = await base.log.open([...changes.flat(), ...facts]);
  let next = 0;
  const places = changes.map((list) => list.map(() => next++));
  const marked: MarkedGroup[] = groups.map((group, index) => {
    const marks = places[index]!.map((place) => segments.mark(place));
    const half = group.jobs.length;
    return { ...group, segments, marks: marks.slice(0, half), replaceMarks: marks.slice(half) };
  });
  const loseAll = (index: number) => {
    for (const place of places[index]!) segments.lose(place);
  };
  const factPlaces = facts.map(() => next++);
  const factMarks = factPlaces.map((place) => segments.mark(place));
  const loseFacts = () => {
    for (const place of factPlaces) segments.lose(place);
  };
  return { marked, segments, loseAll, factMarks, loseFacts };
}

/** What a group must have to itself among the calls of this process; others may use other lines at the same time. */
export function linesOf({ jobs, workflow }: InsertGroup): string[] {
  const joined = workflow && 'join' in workflow ? [workflowLine(jobs[0]?.job.tenant ?? '', workflow.join)] : [];
  return [...joined, ...jobs.flatMap(linesOfJob)];
}

export const workflowLine = (tenant: string, id: string): string => `workflow ${tenant} ${id}`;

function linesOfJob({ job, unique }: NewJob): string[] {
  return [
    `job ${job.tenant} ${job.id}`,
    ...(job.idempotencyKey === null ? [] : [`key ${job.tenant} ${job.idempotencyKey}`]),
    ...(job.limitKey === null ? [] : [limitLine(job.tenant, job.limitKey)]),
    ...(unique ? [`unique ${job.tenant} ${unique.key}`] : []),
    ...limitOfOwner(unique?.replace?.job),
  ];
}

const limitOfOwner = (owner: Job | undefined): string[] =>
  owner === undefined || owner.limitKey === null ? [] : [limitLine(owner.tenant, owner.limitKey)];
