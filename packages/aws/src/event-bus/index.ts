export type { ClientTimeouts } from '../timeouts.ts';
export {
  type BusEvent,
  DETAIL_TYPE,
  type DeliveredEvent,
  type EventContext,
  type EventProperties,
  eventIn,
  readBusEvent,
  sourceOf,
} from './envelope.ts';
export { type EventBus, eventBus } from './event-bus.ts';
export {
  type BusEventType,
  JOB_EVENTS,
  type JobEventType,
  type JobStatus,
  TASK_EVENTS,
  TASK_STATES,
  type TaskEventType,
  type TaskState,
} from './event-types.ts';
export type { EntityType, EventKeys } from './keys.ts';
export { inflated } from './overflow.ts';
export type { EventBusOptions } from './settings.ts';
export type { StoredEvent } from './table/event-item.ts';
export type { Found, Span } from './table/event-query.ts';
export { type EventTable, type EventTableOptions, eventTable } from './table/event-table.ts';
export type { JobListQuery, JobQueries } from './table/job-queries.ts';
export type { JobStatusInfo, TaskStatus } from './table/states.ts';
export type { TaskName, TaskQueries, TaskScope } from './table/task-queries.ts';
export type { TimelineQueries, TimelineQuery } from './table/timeline-queries.ts';
