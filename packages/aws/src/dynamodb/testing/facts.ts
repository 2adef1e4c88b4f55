import { isJobEvent, type LogEvent, type NewJob, type SubjectEventType, type Told } from '@waybill/core';
import { TEST_EPOCH } from '@waybill/core/testing';

export const aFact = (type: SubjectEventType, subject: string): Told => ({
  ...{ type, tenant: '', subject, at: TEST_EPOCH, data: { about: subject } },
});

/** The job tells with its first event that a workflow has begun. */
export const starting = ({ job, events, ...rest }: NewJob, workflow: string): NewJob => ({
  ...rest,
  job,
  events: [...events, { ...aFact('workflow.started', workflow), jobId: job.id, source: 'server', sequence: 1 }],
});

/** What was told of subjects, in short. */
export const factsIn = (events: readonly LogEvent[]): string[] =>
  events.filter((event) => !isJobEvent(event)).map(({ type, sequence }) => `${type} ${sequence}`);
