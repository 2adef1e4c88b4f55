import type { JobEvent, JobEventType, JsonObject, LogEvent } from '@waybill/core';

const PREFIX = 'job.';
const DEFAULT_SOURCE = 'server';

type Told = [
  type: string,
  run: number,
  attempt: number,
  sequence: number,
  at: number,
  data?: JsonObject,
  source?: string,
];
/** All events that one change writes: what they share is written once. */
type Entry = [jobId: string, jobType: string, queue: string, tenant: string, ...told: Told[]];

/** The changes of one segment, as JSON. */
export function encodeEntries(entries: readonly (readonly LogEvent[])[]): string {
  return JSON.stringify((entries as readonly (readonly JobEvent[])[]).map(encodeEntry));
}

function encodeEntry(events: readonly JobEvent[]): Entry {
  const { jobId, jobType, queue, tenant } = events[0]!;
  return [jobId, jobType, queue, tenant, ...events.map(encodeEvent)];
}

function encodeEvent({ type, run, attempt, sequence, at, data, source }: JobEvent): Told {
  const name = type.slice(PREFIX.length);
  if (source !== DEFAULT_SOURCE) return [name, run, attempt, sequence, at, data, source];
  if (Object.keys(data).length > 0) return [name, run, attempt, sequence, at, data];
  return [name, run, attempt, sequence, at];
}

export function decodeEntries(body: string): LogEvent[][] {
  return (JSON.parse(body) as Entry[]).map(([jobId, jobType, queue, tenant, ...told]) =>
    told.map(([type, run, attempt, sequence, at, data, source]) => ({
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
    })),
  );
}
