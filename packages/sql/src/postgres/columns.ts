// What a flush passes to the functions of the migrations, column by column and in the order of their parameters.
import {
  type Change,
  isFinished,
  isForgotten,
  isJobEvent,
  type Job,
  type LogEvent,
  type NewJob,
  rankOf,
} from '@waybill/core';
import { encodeEvent, encodeEvents, encodeRuns, newestAt } from '../event-codec.ts';
import { jsonLines, plainArray, plainColumn, sharedPlain, sharedText, textArray, textColumn } from './arrays.ts';
import { errorCodeCell, errorsCell, errorTypeCell, resultCell, stateCode } from './rows.ts';

export type Parameter = string | number | boolean | null;

/** A flag that is hardly ever set. */
const flag = <T>(of: readonly T[], pick: (one: T) => boolean): string | null =>
  plainColumn(of, (one) => (pick(one) ? true : null));
/** A count that hardly ever differs from zero. */
const count = <T>(of: readonly T[], pick: (one: T) => number): string | null =>
  plainColumn(of, (one) => pick(one) || null);

export const placeOf = ({ priority, seq, rank }: Pick<Job, 'priority' | 'seq' | 'rank'>): string =>
  rank ?? rankOf(priority, seq);

function insertColumns(tenant: string, jobs: readonly Job[]): Parameter[] {
  return [
    tenant,
    plainColumn(jobs, (job) => job.id),
    sharedText(jobs, (job) => job.type),
    sharedText(jobs, (job) => job.queue),
    sharedPlain(jobs, (job) => job.priority),
    plainColumn(jobs, placeOf),
    sharedPlain(jobs, (job) => stateCode(job.state)),
    sharedPlain(jobs, (job) => job.rank !== null),
    plainColumn(jobs, (job) => job.nextAt),
    sharedPlain(jobs, (job) => job.version),
    count(jobs, (job) => job.run),
    count(jobs, (job) => job.attempt),
    sharedPlain(jobs, (job) => job.maxAttempts),
    textColumn(jobs, (job) => job.claimId),
    textColumn(jobs, (job) => job.workerId),
    plainColumn(jobs, (job) => job.leaseMs),
    plainColumn(jobs, (job) => job.leaseUntil),
    textColumn(jobs, (job) => job.outcome),
    plainColumn(jobs, (job) => job.timeoutMs),
    plainColumn(jobs, (job) => job.timeoutAt),
    plainColumn(jobs, (job) => job.visibilityMs),
    sharedPlain(jobs, (job) => job.createdAt),
    sharedPlain(jobs, (job) => job.enqueuedAt),
    plainColumn(jobs, (job) => job.scheduledAt),
    plainColumn(jobs, (job) => job.startedAt),
    plainColumn(jobs, (job) => job.expiresAt),
    plainColumn(jobs, (job) => job.retryDelayMs),
    jsonLines(jobs, errorsCell),
    textColumn(jobs, errorTypeCell),
    textColumn(jobs, errorCodeCell),
    textColumn(jobs, (job) => job.idempotencyKey),
    textColumn(jobs, (job) => job.uniqueKey),
    textColumn(jobs, (job) => job.limitKey),
    flag(jobs, (job) => job.holdsSlot),
    textColumn(jobs, (job) => job.workflowId),
    textColumn(jobs, (job) => job.node),
    flag(jobs, (job) => job.advancePending),
    jsonLines(jobs, (job) => JSON.stringify(job.spec)),
  ];
}

export function insertParameters(
  made: readonly NewJob[],
  newQueues: readonly string[],
  wake: string | null,
): Parameter[] {
  const jobs = made.map(({ job }) => job);
  return [...insertColumns(jobs[0]!.tenant, jobs), textArray(newQueues), ...eventCells(made), wake];
}

/** Whether insert_one_v1 can store a job: most that are enqueued by themselves. */
export function isSimple({ job, events }: NewJob): boolean {
  const hasRun =
    job.run > 0 || job.attempt > 0 || job.claimId !== null || job.outcome !== null || job.errors.length > 0;
  const hasKeys = job.idempotencyKey !== null || job.uniqueKey !== null || job.limitKey !== null;
  return !hasRun && !hasKeys && job.workflowId === null && !job.advancePending && listsOf(events).length <= 1;
}

export function insertOneParameters({ job, events }: NewJob, isNewQueue: boolean, wake: string | null): Parameter[] {
  return [
    job.tenant,
    job.id,
    job.type,
    job.queue,
    job.priority,
    placeOf(job),
    stateCode(job.state),
    job.rank !== null,
    job.nextAt,
    job.version,
    job.maxAttempts,
    job.timeoutMs,
    job.visibilityMs,
    job.createdAt,
    job.enqueuedAt,
    job.scheduledAt,
    job.expiresAt,
    JSON.stringify(job.spec),
    isNewQueue,
    newestAt([{ events }]),
    events.length > 0 && isForgotten(events[0]!.type),
    events.length,
    encodeEvents(events).join(','),
    wake,
  ];
}

/**
 * The events of a flush whose parts go in or stay out together: newest time, and for each queue and kind its name, whether
 * a queue that forgets leaves them out, their number and their list; and whether the one list there is counts the jobs
 * of the flush, one event for each, instead of naming them.
 */
function eventCells(told: readonly { job: Job; events: readonly LogEvent[] }[]): Parameter[] {
  const events = told.flatMap((one) => one.events);
  const lists = listsOf(events);
  // What is not about a job has no queue, so it never shares a list with events of jobs.
  const isOfJobs = lists.length === 1 && isJobEvent(lists[0]![0]!);
  const isOneEach = isOfJobs && told.every((one) => one.events.length === 1);
  const runs = isOneEach && told.length > 1 ? encodeRuns(events) : null;
  return [
    newestAt(told),
    textArray(lists.map(([first]) => first!.queue ?? '')),
    plainArray(lists.map(([first]) => isForgotten(first!.type))),
    plainArray(lists.map(({ length }) => length)),
    runs?.join(',') ?? jsonLines(lists, (list) => encodeEvents(list).join(',')),
    runs !== null,
  ];
}

function listsOf(events: readonly LogEvent[]): (readonly LogEvent[])[] {
  const [first] = events;
  // Nearly always: then no key is made for each of them.
  if (first && events.every(({ queue, type }) => queue === first.queue && type === first.type)) return [events];
  return [...Map.groupBy(events, ({ queue, type }) => `${isForgotten(type)}${queue ?? ''}`).values()];
}

const eventList = (events: readonly LogEvent[]): string | null =>
  events.length === 0 ? null : events.map(encodeEvent).join(',');

/** Whether a change is the common end of a run, which needs no more than finish_v2 does. */
export function isPlainEnd({ expect, job, ownsKey }: Change): boolean {
  return expect.by === 'lease' && isFinished(job.state) && job.limitKey === null && job.nextAt === null && !ownsKey;
}

export function finishParameters(tenant: string, changes: readonly Change[]): Parameter[] {
  const jobs = changes.map(({ job }) => job);
  const claimOf = ({ expect }: Change): string => (expect.by === 'lease' ? expect.claimId : '');
  const claims = [...new Set(changes.map(claimOf))];
  const numberOf = new Map(claims.map((claimId, index) => [claimId, index + 1]));
  return [
    tenant,
    plainColumn(jobs, (job) => job.id),
    sharedPlain(changes, ({ expect }) => (expect.by === 'lease' ? expect.run : null)),
    textArray(claims),
    sharedPlain(changes, (change) => numberOf.get(claimOf(change))!),
    sharedPlain(jobs, (job) => stateCode(job.state)),
    sharedPlain(jobs, (job) => job.version),
    sharedText(jobs, (job) => job.outcome),
    plainColumn(jobs, (job) => job.finishedAt),
    flag(jobs, (job) => job.dead),
    jsonLines(jobs, errorsCell),
    textColumn(jobs, errorTypeCell),
    textColumn(jobs, errorCodeCell),
    jsonLines(jobs, resultCell),
    ...eventCells(changes),
  ];
}

/** All but the last parameter of apply_v1. */
export function applyColumns(tenant: string, changes: readonly Change[]): Parameter[] {
  const jobs = changes.map(({ job }) => job);
  const byLease = changes.map(({ expect }) => (expect.by === 'lease' ? expect : null));
  const byVersion = changes.map(({ expect }) => (expect.by === 'version' ? expect : null));
  const kept = changes.map(({ events }) => events.filter(({ type }) => !isForgotten(type)));
  return [
    tenant,
    plainColumn(jobs, (job) => job.id),
    textColumn(jobs, (job) => job.queue),
    plainColumn(jobs, placeOf),
    plainColumn(jobs, (job) => stateCode(job.state)),
    plainColumn(jobs, (job) => job.rank !== null),
    plainColumn(jobs, (job) => job.nextAt),
    plainColumn(jobs, (job) => job.version),
    count(jobs, (job) => job.run),
    count(jobs, (job) => job.attempt),
    textColumn(jobs, (job) => job.claimId),
    textColumn(jobs, (job) => job.workerId),
    plainColumn(jobs, (job) => job.leaseMs),
    plainColumn(jobs, (job) => job.leaseUntil),
    textColumn(jobs, (job) => job.outcome),
    plainColumn(jobs, (job) => job.timeoutMs),
    plainColumn(jobs, (job) => job.timeoutAt),
    plainColumn(jobs, (job) => job.visibilityMs),
    plainColumn(jobs, (job) => job.enqueuedAt),
    plainColumn(jobs, (job) => job.scheduledAt),
    plainColumn(jobs, (job) => job.startedAt),
    plainColumn(jobs, (job) => job.finishedAt),
    plainColumn(jobs, (job) => job.expiresAt),
    plainColumn(jobs, (job) => job.retryDelayMs),
    jsonLines(jobs, errorsCell),
    textColumn(jobs, errorTypeCell),
    textColumn(jobs, errorCodeCell),
    jsonLines(jobs, resultCell),
    flag(jobs, (job) => job.dead),
    textColumn(jobs, (job) => job.limitKey),
    flag(jobs, (job) => job.holdsSlot),
    // Any name keeps a queue that forgets from forgetting the row; the one in the row stays what it is.
    textColumn(jobs, (job) => job.workflowId ?? (job.advancePending ? '' : null)),
    flag(jobs, (job) => job.advancePending),
    plainColumn(byLease, (lease) => lease?.run ?? null),
    textColumn(byLease, (lease) => lease?.claimId ?? null),
    plainColumn(byVersion, (seen) => seen?.version ?? null),
    plainColumn(byVersion, (seen) => seen?.nextAt ?? null),
    flag(byVersion, (seen) => seen?.holdsSlot ?? false),
    jsonLines(changes, ({ events }) => eventList(events)),
    plainColumn(changes, ({ events }) => events.length),
    jsonLines(kept, eventList),
    count(kept, ({ length }) => length),
    newestAt(changes),
  ];
}
