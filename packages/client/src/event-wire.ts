import type { JobEventType, JsonObject, LoggedEvent } from '@waybill/core';
import { toRfc3339 } from './time.ts';

/** The envelope of the Open Job Spec's event vocabulary, which follows CloudEvents 1.0. */
export interface WireEvent {
  specversion: '1.0';
  /** Made from the event's key, so that a consumer who sees it twice can tell. */
  id: string;
  type: JobEventType;
  source: string;
  time: string;
  /** The job's id. */
  subject: string;
  data: JsonObject;
  /** Continues right behind this event. */
  cursor: string;
}

export function eventToWire(event: LoggedEvent): WireEvent {
  const { jobType: job_type, queue, attempt, run } = event;
  return {
    specversion: '1.0',
    id: `evt_${event.jobId}_${event.source}_${event.sequence}`,
    type: event.type,
    source: sourceOf(event),
    time: toRfc3339(event.at),
    subject: event.jobId,
    // Last, so that data which a worker sends cannot pass for facts of the row.
    data: { ...event.data, job_type, queue, attempt, run },
    cursor: event.cursor,
  };
}

const sourceOf = ({ source }: LoggedEvent): string =>
  source === 'server' ? 'ojs://waybill/server' : `ojs://waybill/workers/${encodeURIComponent(source)}`;

const WORKERS = 'ojs://waybill/workers/';

/** What eventToWire made. Data of a worker that passed for facts of the row is lost on the way there. */
export function eventFromWire(wire: WireEvent): LoggedEvent {
  const { job_type, queue, attempt, run, ...data } = wire.data;
  return {
    type: wire.type,
    tenant: '',
    jobId: wire.subject,
    jobType: String(job_type),
    queue: String(queue),
    run: Number(run),
    attempt: Number(attempt),
    source: wire.source.startsWith(WORKERS) ? decodeURIComponent(wire.source.slice(WORKERS.length)) : 'server',
    sequence: Number(wire.id.slice(wire.id.lastIndexOf('_') + 1)),
    at: Date.parse(wire.time),
    data,
    cursor: wire.cursor,
  };
}
