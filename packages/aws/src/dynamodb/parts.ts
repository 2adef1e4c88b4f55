import type {
  CronStore,
  EventLog,
  JournalStore,
  LimitStore,
  QueueStore,
  ReportStore,
  WorkerStore,
  WorkflowStore,
} from '@waybill/core';
import type { Base } from './base.ts';
import { enableCron, getCron, listCrons, putCron, removeCron } from './crons.ts';
import { fireCron } from './fire-cron.ts';
import { appendJournal } from './journal-append.ts';
import { GrownNotifier, JournalHeads } from './journal-heads.ts';
import { readJournal } from './journal-read.ts';
import { getLimit, setLimit } from './limits.ts';
import { endOfLog, readEvents } from './log.ts';
import { moveWorkflow } from './move-workflow.ts';
import { listQueues, queueStats, setKeep, setPaused, setQueueLimit } from './queues.ts';
import { addReports, getProgress } from './reports.ts';
import { tell } from './tell.ts';
import { listTenants, setTenantLimit } from './tenants.ts';
import { beat, direct, listWorkers } from './workers.ts';
import { getWorkflow, listWorkflows, meet, parentsOf, UnfinishedNodes, waiting } from './workflows.ts';

// The small groups of the seam, each with its verbs bound to one table.

export const eventLog = (base: Base): EventLog => ({
  read: (query) => readEvents(base, query),
  end: () => endOfLog(base),
  tell: (told) => tell(base, told),
});

export const queueStore = (base: Base): QueueStore => ({
  list: (tenant) => listQueues(base, tenant),
  stats: (tenant, name, { atMost }) => queueStats(base, tenant, name, atMost),
  setPaused: (tenant, name, paused, told) => setPaused(base, tenant, name, paused, told),
  setKeep: (tenant, name, keep, told) => setKeep(base, tenant, name, keep, told),
  setLimit: (tenant, name, limit, told) => setQueueLimit(base, tenant, name, limit, told),
  setTenantLimit: (tenant, concurrency) => setTenantLimit(base, tenant, concurrency),
  tenants: (query) => listTenants(base, query),
});

export const limitStore = (base: Base): LimitStore => ({
  set: (tenant, key, rule) => setLimit(base, tenant, key, rule),
  get: (tenant, key) => getLimit(base, tenant, key),
});

export function workflowStore(base: Base): WorkflowStore {
  const unfinished = new UnfinishedNodes();
  return {
    get: (tenant, id) => getWorkflow(base, tenant, id),
    list: (query) => listWorkflows(base, query),
    meet: (parents) => meet(base, parents),
    waiting: (parents) => waiting(base, parents),
    parents: (children) => parentsOf(base, children),
    hasUnfinished: (tenant, id) => unfinished.has(base, tenant, id),
    move: (request) => moveWorkflow(base, request),
  };
}

export const reportStore = (base: Base): ReportStore => ({
  add: (requests) => addReports(base, requests),
  get: (keys) => getProgress(base, keys),
});

export function journalStore(base: Base): JournalStore {
  const heads = new JournalHeads();
  const grown = new GrownNotifier();
  return {
    append: async (requests) => {
      const answers = await appendJournal(base, heads, requests);
      grown.tell(requests.filter((_, index) => answers[index]!.status === 'stored').map(({ id }) => id));
      return answers;
    },
    read: (query) => readJournal(base, query),
    onGrown: (listener) => grown.listen(listener),
  };
}

export const workerStore = (base: Base): WorkerStore => ({
  beat: (request) => beat(base, request),
  direct: (tenant, id, directive, told) => direct(base, tenant, id, directive, told),
  list: (tenant) => listWorkers(base, tenant),
});

export const cronStore = (base: Base): CronStore => ({
  put: (cron, told) => putCron(base, cron, told),
  enable: (request, told) => enableCron(base, request, told),
  get: (tenant, name) => getCron(base, tenant, name),
  list: (tenant) => listCrons(base, tenant),
  remove: (tenant, name, told) => removeCron(base, tenant, name, told),
  fire: (request) => fireCron(base, request),
});
