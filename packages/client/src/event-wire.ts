import type { EventType, JobEventType, JsonObject, LoggedEvent } from '@waybill/core';
import { toRfc3339 } from './time.ts';

/** The envelope of the Open Job Spec's event vocabulary, which follows CloudEvents 1.0. */
export interface WireEvent {
  specversion: '1.0';
  /** Made from the event's key, so that a consumer who sees it twice can tell. */
  id: string;
  type: EventType;
  source: string;
  time: string;
  /** The same as `time`, which the specification's conformance rules call by this name. */
  timestamp: string;
  /** The id of the job, workflow or worker, the name of the queue or cron. */
  subject: string;
  data: JsonObject;
  /** Continues right behind this event. */
  cursor: string;
}

export function eventToWire(event: LoggedEvent): WireEvent {
  const { type, source, sequence, cursor } = event;
  const time = toRfc3339(event.at);
  const envelope = { specversion: '1.0', type, source: sourceOf(event), time, timestamp: time } as const;
  if (event.subject !== undefined) {
    const { subject, data, jobId } = event;
    const id = `evt_${kindOf(type)}_${encodeURIComponent(subject)}_${source}_${sequence}`;
    return { ...envelope, id, subject, data: { ...data, ...(jobId !== undefined && { job_id: jobId }) }, cursor };
  }
  const { jobId: subject, jobType: job_type, queue, attempt, run } = event;
  const id = `evt_${subject}_${source}_${sequence}`;
  // Last, so that data which a worker sends cannot pass for facts of the row.
  return { ...envelope, id, subject, data: { ...event.data, job_id: subject, job_type, queue, attempt, run }, cursor };
}

const WORKERS = 'workers/';
/** What the changes of a job tell of something else, and heartbeats, have sources of their own. */
const OTHERS = [
  { begin: 'job:', path: 'jobs/' },
  { begin: 'lease:', path: 'leases/' },
];

/** Two tenants may have queues, crons and ids of one name: an id is unique within its source, so the tenant is part of it. */
const rootOf = (tenant: string): string =>
  tenant === '' ? 'ojs://waybill/' : `ojs://waybill/tenants/${encodeURIComponent(tenant)}/`;

const sourceOf = ({ source, tenant }: LoggedEvent): string => `${rootOf(tenant)}${pathOf(source)}`;

function pathOf(source: string): string {
  if (source === 'server') return source;
  const other = OTHERS.find(({ begin }) => source.startsWith(begin));
  if (other) return `${other.path}${source.slice(other.begin.length)}`;
  return `${WORKERS}${encodeURIComponent(source)}`;
}

function sourceFrom(text: string): string {
  const path = text.replace(/^ojs:\/\/waybill\/(?:tenants\/[^/]*\/)?/, '');
  const other = OTHERS.find((one) => path.startsWith(one.path));
  if (other) return `${other.begin}${path.slice(other.path.length)}`;
  return path.startsWith(WORKERS) ? decodeURIComponent(path.slice(WORKERS.length)) : 'server';
}

const kindOf = (type: EventType): string => type.slice(0, type.indexOf('.'));

/** What eventToWire made. Data of a worker that passed for facts of the row is lost on the way there. */
export function eventFromWire(wire: WireEvent, tenant: string): LoggedEvent {
  const envelope = {
    tenant,
    source: sourceFrom(wire.source),
    sequence: Number(wire.id.slice(wire.id.lastIndexOf('_') + 1)),
    at: Date.parse(wire.time),
    cursor: wire.cursor,
  };
  if (!isOfJob(wire.type)) {
    const { job_id, ...data } = wire.data;
    const job = typeof job_id === 'string' && TOLD_BY_JOBS.has(wire.type) ? { jobId: job_id } : {};
    const whole = 'jobId' in job ? data : wire.data;
    return { ...envelope, type: wire.type, subject: wire.subject, ...job, data: whole };
  }
  const { job_id: _, job_type, queue, attempt, run, ...data } = wire.data;
  return {
    ...envelope,
    type: wire.type,
    jobId: wire.subject,
    jobType: String(job_type),
    queue: String(queue),
    run: Number(run),
    attempt: Number(attempt),
    data,
  };
}

const isOfJob = (type: EventType): type is JobEventType => kindOf(type) === 'job';

/** Of these the job is part of the event and not only of its data. */
const TOLD_BY_JOBS: ReadonlySet<EventType> = new Set(['workflow.started', 'workflow.step_completed']);
