import { apply } from './apply.ts';
import { claim, claimById } from './claim.ts';
import { enableCron, fireCron, getCron, listCrons, putCron, removeCron } from './crons.ts';
import { due } from './due.ts';
import { endOfEvents, readEvents, tell } from './events.ts';
import { extend } from './extend.ts';
import { insert } from './insert.ts';
import { appendJournal, readJournal } from './journal.ts';
import { getLimit, setLimit } from './limits.ts';
import { releaseLock, takeLock } from './locks.ts';
import type { Input, Output, Verb } from './protocol.ts';
import { prune } from './prune.ts';
import { opensAt } from './queue-gate.ts';
import { listQueues, queueStats, setKeep, setPaused, setQueueLimit } from './queues.ts';
import { count, get, list } from './read.ts';
import { getRecords, listRecords, putRecords, removeRecord } from './records.ts';
import { addReports, getProgress } from './reports.ts';
import type { Session } from './session.ts';
import { listTenants, setTenantLimit } from './tenants.ts';
import { beat, direct, listWorkers } from './workers.ts';
import { getWorkflow, hasUnfinished, listWorkflows, meet, moveWorkflow, parents, waiting } from './workflows.ts';

/** What the thread does for each call. Each runs inside a transaction that the call loop began. */
export const VERBS: { readonly [V in Verb]: (session: Session, input: Input<V>) => Output<V> } = {
  insert,
  get,
  list,
  count,
  claim,
  claimById,
  opensAt,
  apply,
  extend,
  due,
  prune,
  readEvents,
  endOfEvents,
  tell,
  addReports,
  getProgress,
  appendJournal,
  readJournal,
  listQueues,
  queueStats,
  setPaused,
  setQueueLimit,
  setKeep,
  setTenantLimit,
  listTenants,
  setLimit,
  getLimit,
  getWorkflow,
  listWorkflows,
  meet,
  waiting,
  parents,
  hasUnfinished,
  moveWorkflow,
  putCron,
  enableCron,
  getCron,
  listCrons,
  removeCron,
  fireCron,
  beat,
  direct,
  listWorkers,
  getRecords,
  putRecords,
  listRecords,
  removeRecord,
  takeLock,
  releaseLock,
  ping: () => null,
};

/** Not `due`, which lets in what a rate held up. */
const READING: ReadonlySet<Verb> = new Set([
  'get',
  'list',
  'count',
  'opensAt',
  'readEvents',
  'endOfEvents',
  'getProgress',
  'readJournal',
  'listQueues',
  'listTenants',
  'queueStats',
  'getLimit',
  'getWorkflow',
  'listWorkflows',
  'waiting',
  'parents',
  'hasUnfinished',
  'getCron',
  'listCrons',
  'listWorkers',
  'getRecords',
  'listRecords',
  'ping',
]);

export const writes = (verb: Verb): boolean => !READING.has(verb);
