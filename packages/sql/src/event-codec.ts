import type { EventType, JobEvent, JsonObject, LogEvent, SubjectEvent } from '@waybill/core';

/**
 * An event as it stands in a segment: a JSON array whose trailing defaults are left out. Job rows are wide and their
 * events many, so what is the same in nearly every event shall cost nothing.
 */
type Compact = [
  type: EventType,
  /** Or the subject, where it is not a job: then the job that tells it stands in the next place, and no queue or run. */
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

/** Many events that differ in nothing but their jobs, which is what most flushes consist of. */
type Grouped = [
  mark: '*',
  /** Or their number: then they are kept beside the segment, in order. */
  jobIds: string[] | number,
  type: EventType,
  jobType: string,
  queue: string,
  run: number,
  attempt: number,
  sequence: number,
  at: number,
  data: JsonObject,
  source?: string,
  tenant?: string,
];

const DEFAULT_SOURCE = 'server';
const DEFAULT_TENANT = '';

export function encodeEvent(event: LogEvent): string {
  const { type, sequence, at, data, source, tenant } = event;
  const { id, jobType, queue, run, attempt } = flat(event);
  const compact: Compact = [type, id, jobType, queue, run, attempt, sequence, at];
  if (tenant !== DEFAULT_TENANT) compact.push(data, source, tenant);
  else if (source !== DEFAULT_SOURCE) compact.push(data, source);
  else if (Object.keys(data).length > 0) compact.push(data);
  return JSON.stringify(compact);
}

/** All events have the same places, so that those of any kind can be put together. */
function flat(event: LogEvent) {
  const { subject, jobId } = event;
  if (subject !== undefined) return { id: subject, jobType: jobId ?? '', queue: '', run: 0, attempt: 0 };
  const { jobType, queue, run, attempt } = event;
  return { id: event.jobId, jobType, queue, run, attempt };
}

/** By sequence, so that the events of each job keep their order however they are put together. */
export function encodeEvents(events: readonly LogEvent[]): string[] {
  if (events.length === 1) return [encodeEvent(events[0]!)];
  const groups = new Map<string, LogEvent[]>();
  let last: LogEvent[] | undefined;
  for (const event of events) {
    // Nearly always: the jobs of a flush were claimed or settled together.
    if (last !== undefined && isLike(last[0]!, event) && isSameData(last[0]!.data, event.data)) {
      last.push(event);
      continue;
    }
    const { type, sequence, at, source, tenant } = event;
    const { jobType, queue, run, attempt } = flat(event);
    const data = JSON.stringify(event.data);
    const key = `${type}\n${run}.${attempt}.${sequence}.${at}\n${JSON.stringify([jobType, queue, source, tenant])}${data}`;
    const group = groups.get(key);
    last = group ?? [];
    last.push(event);
    if (!group) groups.set(key, last);
  }
  const inOrder = [...groups.values()].sort(([a], [b]) => a!.sequence - b!.sequence);
  return inOrder.map((group) => (group.length === 1 ? encodeEvent(group[0]!) : encodeGroup(group)));
}

/** Whether two events differ in nothing but their jobs and their data. */
const isLike = (a: LogEvent, b: LogEvent): boolean =>
  a.sequence === b.sequence &&
  a.at === b.at &&
  a.type === b.type &&
  a.run === b.run &&
  a.attempt === b.attempt &&
  a.queue === b.queue &&
  a.jobType === b.jobType &&
  a.source === b.source &&
  a.tenant === b.tenant &&
  (a.subject === undefined || a.jobId === b.jobId);

/** What most events tell is a number or nothing; whatever is deeper is compared as text. */
function isSameData(a: JsonObject, b: JsonObject): boolean {
  if (a === b) return true;
  for (const key in a) if (typeof a[key] === 'object') return JSON.stringify(a) === JSON.stringify(b);
  for (const key in a) if (a[key] !== b[key]) return false;
  for (const key in b) if (!Object.hasOwn(a, key)) return false;
  return true;
}

const encodeGroup = (group: readonly LogEvent[]): string =>
  encodeAlike(
    group[0]!,
    group.map((event) => flat(event).id),
  );

/** Fewer of a kind are not worth an entry of their own. */
const LEAST_PER_RUN = 4;

/**
 * Counts the jobs of neighbours instead of naming them, for whoever keeps the ids beside the segment. Null where too
 * many neighbours differ.
 */
export function encodeRuns(events: readonly LogEvent[]): string[] | null {
  const runs: string[] = [];
  let start = 0;
  for (let index = 1; index <= events.length; index += 1) {
    const [first, next] = [events[start]!, events[index]];
    if (next !== undefined && isLike(first, next) && isSameData(first.data, next.data)) continue;
    runs.push(encodeAlike(first, index - start));
    if (runs.length * LEAST_PER_RUN > events.length) return null;
    start = index;
  }
  return runs;
}

function encodeAlike(one: LogEvent, jobs: string[] | number): string {
  const { type, sequence, at, data, source, tenant } = one;
  const { jobType, queue, run, attempt } = flat(one);
  const grouped: Grouped = ['*', jobs, type, jobType, queue, run, attempt, sequence, at, data];
  if (tenant !== DEFAULT_TENANT || source !== DEFAULT_SOURCE) grouped.push(source, tenant);
  return JSON.stringify(grouped);
}

/**
 * Puts neighbours together that differ in nothing but their jobs: most of what a transaction tells. The texts are those
 * of `encodeEvent`, which begin with the type and the id.
 */
export function foldEvents(encoded: readonly string[]): string[] {
  const folded: string[] = [];
  let ids = '';
  let [type, rest, count] = ['', '', 0];
  const close = () => {
    if (count === 1) folded.push(`[${type},${ids}${rest}`);
    else if (count > 1) folded.push(`["*",[${ids}],${type}${rest}`);
  };
  for (const text of encoded) {
    // What is not a job may have commas in its name, and hardly ever has a neighbour like it.
    if (!text.startsWith('["job.')) {
      close();
      count = 0;
      folded.push(text);
      continue;
    }
    const idAt = text.indexOf(',') + 1;
    const idEnd = text.indexOf(',', idAt);
    const id = text.slice(idAt, idEnd);
    if (count > 0 && text.endsWith(rest) && text.length === idEnd + rest.length && text.startsWith(type, 1)) {
      ids += `,${id}`;
      count += 1;
      continue;
    }
    close();
    [type, rest, ids, count] = [text.slice(1, idAt - 1), text.slice(idEnd), id, 1];
  }
  close();
  return folded;
}

/** `ids` are those that the segment only counts. */
export function decodeEvents(body: string, ids: readonly string[] = []): LogEvent[] {
  let counted = 0;
  const take = (count: number): readonly string[] => {
    counted += count;
    return ids.slice(counted - count, counted);
  };
  return (JSON.parse(body) as (Compact | Grouped)[]).flatMap((one) => {
    if (!isGrouped(one)) return [decodeEvent(one)];
    return decodeGroup(one, typeof one[1] === 'number' ? take(one[1]) : one[1]);
  });
}

const isGrouped = (one: Compact | Grouped): one is Grouped => one[0] === '*';

function decodeGroup(group: Grouped, jobIds: readonly string[]): LogEvent[] {
  const [, , type, jobType, queue, run, attempt, sequence, at, data, source, tenant] = group;
  return jobIds.map((id) =>
    decodeEvent([
      type,
      id,
      jobType,
      queue,
      run,
      attempt,
      sequence,
      at,
      data,
      source ?? DEFAULT_SOURCE,
      tenant ?? DEFAULT_TENANT,
    ]),
  );
}

function decodeEvent(compact: Compact): LogEvent {
  const [type, id, jobType, queue, run, attempt, sequence, at, data = {}, source, tenant] = compact;
  const told = { tenant: tenant ?? DEFAULT_TENANT, source: source ?? DEFAULT_SOURCE, sequence, at, data };
  if (!type.startsWith('job.')) {
    return { type: type as SubjectEvent['type'], subject: id, ...(jobType !== '' && { jobId: jobType }), ...told };
  }
  return { type: type as JobEvent['type'], jobId: id, jobType, queue, run, attempt, ...told };
}

/** The time that a segment is kept by: its newest event's. */
export function newestAt(told: readonly { events: readonly LogEvent[] }[]): number {
  let newest = 0;
  for (const { events } of told) for (const { at } of events) if (at > newest) newest = at;
  return newest;
}
