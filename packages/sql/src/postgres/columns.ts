// What a flush passes to the functions of the migrations, column by column and in the order of their parameters.
import { type Change, isFinished, isForgotten, type Job, type JobEvent, type NewJob, rankOf } from '@waybill/core';
import { encodeEvent, encodeEvents, newestAt } from '../event-codec.ts';
import { jsonArray, plainArray, textArray } from './arrays.ts';
import { errorCodeCell, errorsCell, errorTypeCell, resultCell, stateCode } from './rows.ts';

export type Parameter = string | number | null;

const plain = <T>(of: readonly T[], pick: (one: T) => string | number | boolean | null): string | null =>
  plainArray(of.map(pick));
const text = <T>(of: readonly T[], pick: (one: T) => string | null): string | null => textArray(of.map(pick));
/** A flag that is hardly ever set. */
const flag = <T>(of: readonly T[], pick: (one: T) => boolean): string | null =>
  plainArray(of.map((one) => (pick(one) ? true : null)));
/** A count that hardly ever differs from zero. */
const count = <T>(of: readonly T[], pick: (one: T) => number): string | null =>
  plainArray(of.map((one) => pick(one) || null));

export const placeOf = ({ priority, seq }: Pick<Job, 'priority' | 'seq'>): string => rankOf(priority, seq);

function insertColumns(tenant: string, jobs: readonly Job[]): Parameter[] {
  return [
    tenant,
    plain(jobs, (job) => job.id),
    text(jobs, (job) => job.type),
    text(jobs, (job) => job.queue),
    plain(jobs, (job) => job.priority),
    plain(jobs, placeOf),
    plain(jobs, (job) => stateCode(job.state)),
    plain(jobs, (job) => job.rank !== null),
    plain(jobs, (job) => job.nextAt),
    plain(jobs, (job) => job.version),
    count(jobs, (job) => job.run),
    count(jobs, (job) => job.attempt),
    plain(jobs, (job) => job.maxAttempts),
    text(jobs, (job) => job.claimId),
    text(jobs, (job) => job.workerId),
    plain(jobs, (job) => job.leaseMs),
    plain(jobs, (job) => job.leaseUntil),
    text(jobs, (job) => job.outcome),
    plain(jobs, (job) => job.timeoutMs),
    plain(jobs, (job) => job.timeoutAt),
    plain(jobs, (job) => job.visibilityMs),
    plain(jobs, (job) => job.createdAt),
    plain(jobs, (job) => job.enqueuedAt),
    plain(jobs, (job) => job.scheduledAt),
    plain(jobs, (job) => job.startedAt),
    plain(jobs, (job) => job.expiresAt),
    plain(jobs, (job) => job.retryDelayMs),
    jsonArray(jobs.map(errorsCell)),
    text(jobs, errorTypeCell),
    text(jobs, errorCodeCell),
    text(jobs, (job) => job.idempotencyKey),
    text(jobs, (job) => job.uniqueKey),
    text(jobs, (job) => job.limitKey),
    flag(jobs, (job) => job.holdsSlot),
    text(jobs, (job) => job.workflowId),
    text(jobs, (job) => job.node),
    flag(jobs, (job) => job.advancePending),
    jsonArray(jobs.map((job) => JSON.stringify(job.spec))),
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

/**
 * The events of a flush whose parts go in or stay out together: newest time, and for each queue and kind its name, whether
 * a queue that forgets leaves them out, their number and their list.
 */
function eventCells(told: readonly { job: Job; events: readonly JobEvent[] }[]): Parameter[] {
  const events = told.flatMap((one) => one.events);
  const lists = [...Map.groupBy(events, ({ queue, type }) => `${isForgotten(type)}${queue}`).values()];
  return [
    newestAt(told),
    textArray(lists.map(([first]) => first!.queue)),
    plainArray(lists.map(([first]) => isForgotten(first!.type))),
    plainArray(lists.map(({ length }) => length)),
    jsonArray(lists.map((list) => `[${encodeEvents(list).join(',')}]`)),
  ];
}

const eventList = (events: readonly JobEvent[]): string => `[${events.map(encodeEvent).join(',')}]`;

/** Whether a change is the common end of a run, which needs no more than finish_v1 does. */
export function isPlainEnd({ expect, job, ownsKey }: Change): boolean {
  return expect.by === 'lease' && isFinished(job.state) && job.limitKey === null && !job.advancePending && !ownsKey;
}

export function finishParameters(tenant: string, changes: readonly Change[]): Parameter[] {
  const jobs = changes.map(({ job }) => job);
  return [
    tenant,
    plain(jobs, (job) => job.id),
    plain(changes, ({ expect }) => (expect.by === 'lease' ? expect.run : null)),
    text(changes, ({ expect }) => (expect.by === 'lease' ? expect.claimId : null)),
    plain(jobs, (job) => stateCode(job.state)),
    plain(jobs, (job) => job.version),
    text(jobs, (job) => job.outcome),
    plain(jobs, (job) => job.finishedAt),
    flag(jobs, (job) => job.dead),
    jsonArray(jobs.map(errorsCell)),
    text(jobs, errorTypeCell),
    text(jobs, errorCodeCell),
    jsonArray(jobs.map(resultCell)),
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
    plain(jobs, (job) => job.id),
    text(jobs, (job) => job.queue),
    plain(jobs, placeOf),
    plain(jobs, (job) => stateCode(job.state)),
    plain(jobs, (job) => job.rank !== null),
    plain(jobs, (job) => job.nextAt),
    plain(jobs, (job) => job.version),
    count(jobs, (job) => job.run),
    count(jobs, (job) => job.attempt),
    text(jobs, (job) => job.claimId),
    text(jobs, (job) => job.workerId),
    plain(jobs, (job) => job.leaseMs),
    plain(jobs, (job) => job.leaseUntil),
    text(jobs, (job) => job.outcome),
    plain(jobs, (job) => job.timeoutMs),
    plain(jobs, (job) => job.timeoutAt),
    plain(jobs, (job) => job.visibilityMs),
    plain(jobs, (job) => job.enqueuedAt),
    plain(jobs, (job) => job.scheduledAt),
    plain(jobs, (job) => job.startedAt),
    plain(jobs, (job) => job.finishedAt),
    plain(jobs, (job) => job.expiresAt),
    plain(jobs, (job) => job.retryDelayMs),
    jsonArray(jobs.map(errorsCell)),
    text(jobs, errorTypeCell),
    text(jobs, errorCodeCell),
    jsonArray(jobs.map(resultCell)),
    flag(jobs, (job) => job.dead),
    text(jobs, (job) => job.limitKey),
    flag(jobs, (job) => job.holdsSlot),
    text(jobs, (job) => job.workflowId),
    flag(jobs, (job) => job.advancePending),
    plain(byLease, (lease) => lease?.run ?? null),
    text(byLease, (lease) => lease?.claimId ?? null),
    plain(byVersion, (seen) => seen?.version ?? null),
    plain(byVersion, (seen) => seen?.nextAt ?? null),
    flag(byVersion, (seen) => seen?.holdsSlot ?? false),
    jsonArray(changes.map(({ events }) => eventList(events))),
    plain(changes, ({ events }) => events.length),
    jsonArray(kept.map((events) => (events.length === 0 ? null : eventList(events)))),
    count(kept, ({ length }) => length),
    newestAt(changes),
  ];
}
