import type { JobEvent, JsonObject } from '@waybill/core';

/**
 * An event as it stands in a segment: a JSON array whose trailing defaults are left out. Job rows are wide and their
 * events many, so what is the same in nearly every event shall cost nothing.
 */
type Compact = [
  type: JobEvent['type'],
  jobId: string,
  jobType: string,
  queue: string,
  run: number,
  attempt: number,
  sequence: number,
  at: number,
  data?: JsonObject,
  source?: string,
  tenant?: string,
];

const DEFAULT_SOURCE = 'server';
const DEFAULT_TENANT = '';

export function encodeEvent(event: JobEvent): string {
  const { type, jobId, jobType, queue, run, attempt, sequence, at, data, source, tenant } = event;
  const compact: Compact = [type, jobId, jobType, queue, run, attempt, sequence, at];
  if (tenant !== DEFAULT_TENANT) compact.push(data, source, tenant);
  else if (source !== DEFAULT_SOURCE) compact.push(data, source);
  else if (Object.keys(data).length > 0) compact.push(data);
  return JSON.stringify(compact);
}

export function decodeEvents(body: string): JobEvent[] {
  return (JSON.parse(body) as Compact[]).map(decodeEvent);
}

function decodeEvent(compact: Compact): JobEvent {
  const [type, jobId, jobType, queue, run, attempt, sequence, at, data, source, tenant] = compact;
  return {
    type,
    tenant: tenant ?? DEFAULT_TENANT,
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
}

/** The time that a segment is kept by: its newest event's. */
export function newestAt(told: readonly { events: readonly JobEvent[] }[]): number {
  let newest = 0;
  for (const { events } of told) for (const { at } of events) if (at > newest) newest = at;
  return newest;
}
