// The smaller parts of the store: each passes calls on to the thread.
import type {
  Clock,
  CronStore,
  EventLog,
  LimitStore,
  LockTable,
  NewJob,
  QueueStore,
  RecordTable,
  ReportStore,
  WorkerStore,
  WorkflowStore,
} from '@waybill/core';
import { newestAt } from '../event-codec.ts';
import { groupMessage } from './messages.ts';
import { fromRow } from './rows.ts';
import type { ThreadLink } from './thread-link.ts';

export const eventLog = (link: ThreadLink): EventLog => ({
  read: (query) => link.call('readEvents', query),
  end: () => link.call('endOfEvents', null),
});

export const reportStore = (link: ThreadLink): ReportStore => ({
  add: (requests) => link.call('addReports', requests),
  get: (keys) => link.call('getProgress', keys),
});

export const queueStore = (link: ThreadLink): QueueStore => ({
  list: (tenant) => link.call('listQueues', tenant),
  stats: (tenant, name, { atMost }) => link.call('queueStats', { tenant, name, atMost }),
  setPaused: (tenant, name, paused) => link.call('setPaused', { tenant, name, paused }),
  setLimit: (tenant, name, limit) => link.call('setQueueLimit', { tenant, name, limit }),
  setKeep: (tenant, name, keep) => link.call('setKeep', { tenant, name, keep }),
});

export const limitStore = (link: ThreadLink): LimitStore => ({
  set: (tenant, key, rule, now) => link.call('setLimit', { tenant, key, rule, now }),
  get: (tenant, key) => link.call('getLimit', { tenant, key }),
});

export const workflowStore = (link: ThreadLink): WorkflowStore => ({
  get: (tenant, id) => link.call('getWorkflow', { tenant, id }),
  list: (query) => link.call('listWorkflows', query),
  meet: async (family) => (await link.call('meet', family)).map(fromRow),
  waiting: async (family) => (await link.call('waiting', family)).map(fromRow),
  parents: (family) => link.call('parents', family),
  hasUnfinished: (tenant, id) => link.call('hasUnfinished', { tenant, id }),
  move: ({ jobs, ...request }) => link.call('moveWorkflow', { request, groups: jobs.map(alone), at: newestAt(jobs) }),
});

export const workerStore = (link: ThreadLink): WorkerStore => ({
  beat: (beat) => link.call('beat', beat),
  direct: (tenant, id, directive) => link.call('direct', { tenant, id, directive }),
  list: (tenant) => link.call('listWorkers', tenant),
});

export const cronStore = (link: ThreadLink, clock: Clock): CronStore => ({
  put: (cron) => link.call('putCron', cron),
  get: (tenant, name) => link.call('getCron', { tenant, name }),
  list: (tenant) => link.call('listCrons', tenant),
  remove: (tenant, name) => link.call('removeCron', { tenant, name }),
  fire: ({ job, ...request }) =>
    link.call('fireCron', {
      request,
      group: job ? alone(job) : null,
      at: job ? newestAt([job]) : 0,
      now: clock.now(),
    }),
});

export const recordTable = (link: ThreadLink): RecordTable => ({
  get: (keys, now) => link.call('getRecords', { keys, now }),
  put: (requests, now) => link.call('putRecords', { requests, now }),
  list: (query) => link.call('listRecords', query),
  remove: (key, expected, now) => link.call('removeRecord', { key, expected, now }),
});

export const lockTable = (link: ThreadLink): LockTable => ({
  take: (request) => link.call('takeLock', request),
  release: (request) => link.call('releaseLock', request),
});

const alone = (job: NewJob) => groupMessage({ jobs: [job] });
