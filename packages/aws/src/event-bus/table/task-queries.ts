import type { Clock } from '@waybill/core';
import { inParallel } from '../../dynamodb/database.ts';
import { PROGRESS_EVENTS, TASK_EVENTS, type TaskEventType, type TaskState } from '../event-types.ts';
import { appKey, entityKey, scopedEntityKey, taskEntity, tasksOfJob, tenantKey, typeKey } from '../keys.ts';
import type { StoredEvent } from './event-item.ts';
import type { EventQuery, Span } from './event-query.ts';
import { newestByEntity, newestOf, statusOf, type TaskStatus } from './states.ts';

/** Names one task. */
export interface TaskName {
  /** @defaultValue '' */
  tenant?: string;
  /** Absent: a task without a job. */
  jobId?: string;
  taskId: string;
}

/** Which tasks are meant. */
export interface TaskScope extends Span {
  /** @defaultValue '' */
  tenant?: string;
  app: string;
}

export interface TaskQueries {
  /** How it stands with a task; null: there is no event of it, so that it waits or does not exist. */
  taskState(task: TaskName): Promise<TaskStatus | null>;
  /** All events of a task, in order. */
  taskHistory(task: TaskName): Promise<StoredEvent[]>;
  /** The newest event of a type of a task. */
  latestOfType(task: TaskName, type: TaskEventType): Promise<StoredEvent | null>;
  /** The tasks of a job, by name. Those that have no event yet are not among them. */
  jobTasks(job: { tenant?: string; app: string; jobId: string }): Promise<TaskStatus[]>;
  /** All tasks with an event in a span, by their state. Heartbeats and updates do not count. */
  tasksByState(scope: TaskScope): Promise<Record<TaskState, TaskStatus[]>>;
  /** Tasks that were started in a span and are still processed; of one worker, where it is named. */
  activeTasks(scope: TaskScope & { workerId?: string }): Promise<TaskStatus[]>;
}

/** Types that say how it stands with a task; a job has few of each, while heartbeats may be thousands. */
const STATE_TYPES = (Object.keys(TASK_EVENTS) as TaskEventType[]).filter((type) => !PROGRESS_EVENTS.has(type));

/** Clocks of servers differ by no more; an event of this much earlier cannot be a later one. */
const CLOCKS_DIFFER_MS = 60_000;

export function taskQueries(query: EventQuery, clock: Clock): TaskQueries {
  const ofTask = ({ tenant = '', ...task }: TaskName) => ({
    ...{ index: 1 as const, partition: scopedEntityKey(tenant, 'TASK', taskEntity(task)), prefix: 'TASK#' },
  });

  /** By what its row counts, not by clocks; only events of nearly the same moment can be in another order. */
  async function newestEvent(task: TaskName, span: Span = {}): Promise<StoredEvent | undefined> {
    const nearby: StoredEvent[] = [];
    for await (const event of query.newest(ofTask(task), span)) {
      if (nearby[0] && event.timestamp < nearby[0].timestamp - CLOCKS_DIFFER_MS) break;
      nearby.push(event);
    }
    return newestOf(nearby);
  }

  const taskState: TaskQueries['taskState'] = async (task) => {
    const newest = await newestEvent(task);
    return newest ? statusOf(newest, clock.now()) : null;
  };

  /** With the newest heartbeat where a run is under way: until when it holds is said there. */
  const standing = (events: readonly StoredEvent[]): Promise<TaskStatus[]> =>
    inParallel(events, async (event) => {
      const status = statusOf(event, clock.now());
      if (status.state !== 'processing') return status;
      return (await taskState(nameOf(event))) ?? status;
    });

  return {
    taskState,
    taskHistory: async (task) => (await query.all(ofTask(task))).sort(byOrder),
    latestOfType: async ({ tenant = '', ...task }, type) => {
      const prefix = `${tenantKey(tenant)}#${entityKey('TASK', taskEntity(task))}#`;
      const { events } = await query.page({ index: 5, partition: typeKey(type), prefix }, {}, 1);
      return events[0] ?? null;
    },
    jobTasks: async ({ tenant = '', app, jobId }) => {
      const prefix = `${tenantKey(tenant)}#${appKey(app)}#${entityKey('TASK', tasksOfJob(jobId))}`;
      const found = await Promise.all(
        STATE_TYPES.map((type) => query.beginning({ index: 7, partition: typeKey(type), prefix })),
      );
      const tasks = await standing(newestByEntity(found.flat()));
      return tasks.sort((a, b) => (a.taskId < b.taskId ? -1 : 1));
    },
    tasksByState: async ({ tenant = '', app, ...span }) => {
      const prefix = `${tenantKey(tenant)}#${appKey(app)}#`;
      const found = await Promise.all(
        STATE_TYPES.map((type) => query.all({ index: 6, partition: typeKey(type), prefix }, span)),
      );
      const states = { waiting: [], pending: [], processing: [], in_review: [], completed: [], failed: [] };
      const byState: Record<TaskState, TaskStatus[]> = states;
      for (const event of newestByEntity(found.flat())) {
        const status = statusOf(event, clock.now());
        byState[status.state].push(status);
      }
      return byState;
    },
    activeTasks: async ({ tenant = '', app, workerId, ...span }) => {
      const prefix = `${tenantKey(tenant)}#${appKey(app)}#`;
      const started = await query.all({ index: 6, partition: typeKey('Task Processing Started'), prefix }, span);
      // A task that was retried has started several times.
      const tasks = await standing(newestByEntity(started));
      return tasks.filter(
        (task) => task.state === 'processing' && (workerId === undefined || task.workerId === workerId),
      );
    },
  };
}

const byOrder = (a: StoredEvent, b: StoredEvent): number =>
  a.order === b.order ? a.timestamp - b.timestamp : a.order < b.order ? -1 : 1;

const nameOf = ({ tenantId: tenant, properties: { jobId, requestId = '' } }: StoredEvent): TaskName => ({
  ...{ tenant, taskId: requestId },
  ...(jobId !== undefined && { jobId }),
});
