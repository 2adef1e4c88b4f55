// The smaller parts of the store: each passes calls on to the thread.
import {
  type Clock,
  type CronStore,
  type EventLog,
  type JournalStore,
  type LimitStore,
  type LockTable,
  type NewJob,
  type QueueStore,
  type RecordTable,
  type ReportStore,
  type Stored,
  storedBy,
  type WorkerStore,
  type WorkflowStore,
} from '@waybill/core';
import { newestAt } from '../event-codec.ts';
import { appendMessage, batchOf, groupMessage, insertAnswer, readAdmitted } from './messages.ts';
import type { InsertReply } from './protocol.ts';
import { asFarAsReadable } from './rows.ts';
import type { ThreadLink } from './thread-link.ts';

export const eventLog = (link: ThreadLink): EventLog => ({
  read: (query) => link.call('readEvents', query),
  end: () => link.call('endOfEvents', null),
  tell: async (told) => {
    await link.call('tell', told);
  },
});

export const reportStore = (link: ThreadLink): ReportStore => ({
  add: (requests) => link.call('addReports', requests),
  get: (keys) => link.call('getProgress', keys),
});

export const journalStore = (link: ThreadLink): JournalStore => ({
  append: (requests) => link.call('appendJournal', requests.map(appendMessage)),
  read: async (query) => {
    const { rows, more } = await link.call('readJournal', query);
    return { batches: rows.map(batchOf), more };
  },
  onGrown: (listener) => link.onGrown(listener),
});

export const queueStore = (link: ThreadLink): QueueStore => ({
  list: (tenant) => link.call('listQueues', tenant),
  stats: (tenant, name, { atMost }) => link.call('queueStats', { tenant, name, atMost }),
  setPaused: (tenant, name, paused, told) => link.call('setPaused', { tenant, name, paused, told: told ?? null }),
  setLimit: (tenant, name, limit, told) => link.call('setQueueLimit', { tenant, name, limit, told: told ?? null }),
  setKeep: (tenant, name, keep, told) => link.call('setKeep', { tenant, name, keep, told: told ?? null }),
  setTenantLimit: async (tenant, concurrency) => {
    await link.call('setTenantLimit', { tenant, concurrency });
  },
  tenants: (query) => link.call('listTenants', query),
});

export const limitStore = (link: ThreadLink): LimitStore => ({
  set: async (tenant, key, rule, now) => ({
    admitted: readAdmitted(await link.call('setLimit', { tenant, key, rule, now })),
  }),
  get: (tenant, key) => link.call('getLimit', { tenant, key }),
});

export const workflowStore = (link: ThreadLink): WorkflowStore => ({
  get: (tenant, id) => link.call('getWorkflow', { tenant, id }),
  list: (query) => link.call('listWorkflows', query),
  meet: async (family) => (await link.call('meet', family)).map(asFarAsReadable),
  waiting: async (family) => (await link.call('waiting', family)).map(asFarAsReadable),
  parents: (family) => link.call('parents', family),
  hasUnfinished: (tenant, id) => link.call('hasUnfinished', { tenant, id }),
  move: async ({ jobs, ...request }) => {
    const replies = await link.call('moveWorkflow', { request, groups: jobs.map(alone), at: newestAt(jobs) });
    return replies === null ? { status: 'lost' } : { status: 'moved', ...storedOf(replies, jobs) };
  },
});

export const workerStore = (link: ThreadLink): WorkerStore => ({
  beat: (beat) => link.call('beat', beat),
  direct: (tenant, id, directive, told) => link.call('direct', { tenant, id, directive, told: told ?? null }),
  list: (tenant) => link.call('listWorkers', tenant),
});

export const cronStore = (link: ThreadLink, clock: Clock): CronStore => ({
  put: (cron, told) => link.call('putCron', { cron, told: told ?? null }),
  enable: (request, told) => link.call('enableCron', { request, told: told ?? null }),
  get: (tenant, name) => link.call('getCron', { tenant, name }),
  list: (tenant) => link.call('listCrons', tenant),
  remove: (tenant, name, told) => link.call('removeCron', { tenant, name, told: told ?? null }),
  fire: async ({ job, ...request }) => {
    const jobs = job ? [job] : [];
    const [group = null] = jobs.map(alone);
    const replies = await link.call('fireCron', { request, group, at: newestAt(jobs), now: clock.now() });
    return replies === null ? { status: 'lost' } : { status: 'fired', ...storedOf(replies, jobs) };
  },
});

export const recordTable = (link: ThreadLink): RecordTable => ({
  get: (keys, now) => link.call('getRecords', { keys, now }),
  put: (requests, now) => link.call('putRecords', { requests, now }),
  list: (query) => link.call('listRecords', query),
  remove: (key, expected, told, now) => link.call('removeRecord', { key, expected, told, now }),
});

export const lockTable = (link: ThreadLink): LockTable => ({
  take: (request) => link.call('takeLock', request),
  release: (request) => link.call('releaseLock', request),
});

const alone = (job: NewJob) => groupMessage({ jobs: [job] });

/** Of jobs that were inserted each on its own. */
const storedOf = (replies: readonly InsertReply[], jobs: readonly NewJob[]): Stored =>
  storedBy(replies.map((reply, index) => insertAnswer(reply, { jobs: [jobs[index]!] })));
