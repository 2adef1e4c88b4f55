import { type JobStatus, TASK_EVENTS, type TaskState } from '../event-types.ts';
import type { StoredEvent } from './event-item.ts';

/** How it stands with a task, by its newest event. */
export interface TaskStatus {
  /** The name within its job, or the id of a task without a job. */
  taskId: string;
  jobId: string | null;
  /** The id of the row in Waybill. */
  rowId: string | null;
  state: TaskState;
  /** A run is under way, and its lease has not ended. */
  isLive: boolean;
  /** Until when the lease of the run that is under way holds, in milliseconds since the epoch. */
  effectiveUntil: number | null;
  workerId: string | null;
  lastEventType: StoredEvent['eventType'];
  lastEventAt: number;
}

export interface JobStatusInfo {
  jobId: string;
  status: JobStatus;
  totalTasks: number | null;
  createdAt: number;
}

/** The later one of two events of an entity. Of events whose order is the same, as heartbeats may be, the later moment. */
export function isLater(one: StoredEvent, other: StoredEvent): boolean {
  if (one.order !== other.order) return one.order > other.order;
  return one.timestamp > other.timestamp;
}

export const newestOf = (events: Iterable<StoredEvent>): StoredEvent | undefined => {
  let newest: StoredEvent | undefined;
  for (const event of events) if (!newest || isLater(event, newest)) newest = event;
  return newest;
};

/** The newest event of each entity. */
export function newestByEntity(events: Iterable<StoredEvent>): StoredEvent[] {
  const newest = new Map<string, StoredEvent>();
  for (const event of events) {
    const known = newest.get(event.gsi1pk);
    if (!known || isLater(event, known)) newest.set(event.gsi1pk, event);
  }
  return [...newest.values()];
}

/**
 * What the newest event of a task says. A run whose attempt has failed holds nothing any more, although its task counts as
 * being processed until it has no attempt left: such an event has no `effectiveUntil`, and none is taken for it.
 */
export function statusOf(newest: StoredEvent, now: number): TaskStatus {
  const { eventType, timestamp, context, properties } = newest;
  const { requestId = '', jobId = null, rowId = null, effectiveUntil } = properties;
  const until = typeof effectiveUntil === 'number' ? effectiveUntil : null;
  const workerId = context['workerId'];
  return {
    ...{ taskId: requestId, jobId, rowId, state: TASK_EVENTS[eventType as keyof typeof TASK_EVENTS] },
    ...{ isLive: until !== null && until > now, effectiveUntil: until },
    ...{ workerId: typeof workerId === 'string' ? workerId : null },
    ...{ lastEventType: eventType, lastEventAt: timestamp },
  };
}
