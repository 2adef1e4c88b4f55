import {
  isJobEvent,
  type JobEvent,
  type JobEventType,
  type JsonObject,
  type LogEvent,
  type SubjectEvent,
} from '@waybill/core';

const PREFIX = 'job.';
const DEFAULT_SOURCE = 'server';

type OfJob = [
  /** Without the prefix, so there is no dot in it. */
  type: string,
  run: number,
  attempt: number,
  sequence: number,
  at: number,
  data?: JsonObject,
  source?: string,
];
type OfSubject = [type: string, subject: string, sequence: number, at: number, data?: JsonObject, source?: string];

/** All events that one change writes: what they share is written once. */
type JobEntry = [jobId: string, jobType: string, queue: string, tenant: string, ...told: (OfJob | OfSubject)[]];
/** A change that no job tells of itself. The id is that of the job whose change it is; empty: it is none of a job. */
type SubjectEntry = [mark: 0, jobId: string, tenant: string, ...told: OfSubject[]];

/** The changes of one segment, as JSON. */
export function encodeEntries(entries: readonly (readonly LogEvent[])[]): string {
  return JSON.stringify(entries.map(encodeEntry));
}

/** Of the events of one change the job's own come first. */
function encodeEntry(events: readonly LogEvent[]): JobEntry | SubjectEntry {
  const first = events[0]!;
  const { jobId = '', tenant } = first;
  if (!isJobEvent(first)) return [0, jobId, tenant, ...(events as readonly SubjectEvent[]).map(encodeOfSubject)];
  return [jobId, first.jobType, first.queue, tenant, ...events.map(encodeEvent)];
}

const encodeEvent = (event: LogEvent): OfJob | OfSubject =>
  isJobEvent(event) ? encodeOfJob(event) : encodeOfSubject(event);

function encodeOfJob({ type, run, attempt, sequence, at, data, source }: JobEvent): OfJob {
  const name = type.slice(PREFIX.length);
  if (source !== DEFAULT_SOURCE) return [name, run, attempt, sequence, at, data, source];
  if (Object.keys(data).length > 0) return [name, run, attempt, sequence, at, data];
  return [name, run, attempt, sequence, at];
}

function encodeOfSubject({ type, subject, sequence, at, data, source }: SubjectEvent): OfSubject {
  if (source !== DEFAULT_SOURCE) return [type, subject, sequence, at, data, source];
  if (Object.keys(data).length > 0) return [type, subject, sequence, at, data];
  return [type, subject, sequence, at];
}

export function decodeEntries(body: string): LogEvent[][] {
  return (JSON.parse(body) as (JobEntry | SubjectEntry)[]).map((entry) =>
    isOfSubjects(entry) ? decodeSubjectEntry(entry) : decodeJobEntry(entry),
  );
}

const isOfSubjects = (entry: JobEntry | SubjectEntry): entry is SubjectEntry => entry[0] === 0;

const decodeSubjectEntry = ([, jobId, tenant, ...told]: SubjectEntry): LogEvent[] =>
  told.map((one) => decodeOfSubject(one, jobId, tenant));

const decodeJobEntry = ([jobId, jobType, queue, tenant, ...told]: JobEntry): LogEvent[] =>
  told.map((one) => {
    if (isOfSubject(one)) return decodeOfSubject(one, jobId, tenant);
    const [type, run, attempt, sequence, at, data, source] = one;
    return {
      type: `${PREFIX}${type}` as JobEventType,
      tenant,
      jobId,
      jobType,
      queue,
      run,
      attempt,
      source: source ?? DEFAULT_SOURCE,
      sequence,
      at,
      data: data ?? {},
    };
  });

const isOfSubject = (told: OfJob | OfSubject): told is OfSubject => told[0].includes('.');

const decodeOfSubject = (
  [type, subject, sequence, at, data, source]: OfSubject,
  jobId: string,
  tenant: string,
): SubjectEvent => ({
  type: type as SubjectEvent['type'],
  tenant,
  subject,
  ...(jobId !== '' && { jobId }),
  source: source ?? DEFAULT_SOURCE,
  sequence,
  at,
  data: data ?? {},
});
