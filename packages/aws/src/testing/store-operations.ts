import type { Job } from '@waybill/core';
import { aCron, aJob, aWorkflow, settleChange, type TestClock } from '@waybill/core/testing';
import type { DynamoStore } from '../dynamodb/store.ts';
import { aFact } from '../dynamodb/testing/facts.ts';

export type Operations = Record<string, () => Promise<unknown>>;

const LEASE = { claimId: 'claim', workerId: 'w', leaseMs: 30_000 };
const RULE = { concurrency: 1, rate: null };
/** A queue with a limit, since the store asks for no other when it opens. */
export const LIMITED = 'limited';
const BATCH = { first: 1, last: 1, firstAt: 0, lastAt: 0, types: ['output'], body: Buffer.from('hello') };
const RECORD = { tenant: '', kind: 'notes', id: '1' };

/** Every verb of the store, with an input that makes it ask DynamoDB. The job is held by this claim. */
export function storeOperations(store: DynamoStore, job: Job, clock: TestClock): Operations {
  const now = clock.now();
  const by = { run: job.run, claimId: job.claimId! };
  const family = { tenant: '', ids: [job.id] };
  const { queues, limits, workflows, reports, journal, workers, crons, records, locks, events } = store;
  const cron = aCron({ name: 'nightly', nextAt: now });
  return {
    insert: () => store.insert([{ jobs: [aJob()] }]),
    get: () => store.get([job]),
    list: () => store.list({ filter: { tenant: '' }, limit: 10 }),
    count: () => store.count({ tenant: '' }, { atMost: 10 }),
    claim: () => store.claim([{ tenant: '', queues: ['other'], limit: 1, ...LEASE, now }]),
    opensAt: () => store.opensAt({ tenant: '', queues: [LIMITED], now }),
    claimById: () => store.claimById({ ...family, ...LEASE, now }),
    apply: () => store.apply([settleChange(job, { kind: 'completed', result: null }, now)]),
    extend: () => store.extend([{ ...job, by, leaseMs: 30_000, now }]),
    due: () => store.due({ now, limit: 10 }),
    confirmedEvents: () => store.confirmedEvents(1),
    prune: () => store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, unusedBefore: now, limit: 10 }),
    ping: () => store.ping(),
    'events.read': () => events.read({ filter: { tenant: '*' }, limit: 10 }),
    'events.end': () => events.end(),
    'events.tell': () => events.tell([aFact('queue.paused', 'default')]),
    'queues.list': () => queues.list(''),
    'queues.stats': () => queues.stats('', 'default', { atMost: 10 }),
    'queues.setPaused': () => queues.setPaused('', 'default', true),
    'queues.setKeep': () => queues.setKeep('', 'default', 'none'),
    'queues.setLimit': () => queues.setLimit('', 'default', RULE),
    'queues.setTenantLimit': () => queues.setTenantLimit('', 9),
    'queues.tenants': () => queues.tenants({ after: null, limit: 10 }),
    'limits.set': () => limits.set('', 'key', RULE, now),
    'limits.get': () => limits.get('', 'key'),
    'workflows.get': () => workflows.get('', 'flow'),
    'workflows.list': () => workflows.list({ tenant: '', limit: 10 }),
    'workflows.meet': () => workflows.meet(family),
    'workflows.waiting': () => workflows.waiting(family),
    'workflows.parents': () => workflows.parents(family),
    'workflows.hasUnfinished': () => workflows.hasUnfinished('', aWorkflow().id),
    'workflows.move': () => workflows.move({ tenant: '', id: 'flow', from: 'running', to: 'completed', now, jobs: [] }),
    'reports.add': () => reports.add([{ ...family, id: job.id, by, report: { number: 1, data: {} }, now }]),
    'reports.get': () => reports.get([job]),
    'journal.append': () => journal.append([{ tenant: '', id: job.id, by, batch: BATCH, weight: 1, now }]),
    'journal.read': () => journal.read({ tenant: '', id: job.id, limit: 10, maxBytes: 1_000 }),
    'workers.beat': () => workers.beat({ tenant: '', id: 'w', activeJobs: 1, now }),
    'workers.direct': () => workers.direct('', 'w', 'quiet'),
    'workers.list': () => workers.list(''),
    'crons.put': () => crons.put(cron),
    'crons.get': () => crons.get('', 'nightly'),
    'crons.list': () => crons.list(''),
    'crons.remove': () => crons.remove('', 'nightly'),
    'crons.enable': () => crons.enable({ tenant: '', name: 'nightly', expected: 1, enabled: true, nextAt: now }),
    'crons.fire': () =>
      crons.fire({ tenant: '', name: 'nightly', expected: { version: 1, nextAt: now }, nextAt: null, tick: now }),
    'records.get': () => records.get([RECORD]),
    'records.put': () => records.put([{ ...RECORD, value: {}, expected: 0 }]),
    'records.list': () => records.list({ tenant: '', kind: 'notes', limit: 10 }),
    'records.remove': () => records.remove(RECORD),
    'locks.take': () => locks.take({ name: 'lock', owner: 'me', leaseMs: 30_000 }),
    'locks.release': () => locks.release({ name: 'lock', owner: 'me', fence: 1 }),
  };
}

/** What of a store or transport is no request to AWS. */
const LOCAL = new Set(['constructor', 'close', 'keepFor', 'onWake', 'onGrown', 'clock', 'capabilities', 'presign']);

/** The names of all verbs that an object has, also those of its parts. */
export function verbsOf(part: object, prefix = ''): string[] {
  const own = [...Object.keys(part), ...methodsOf(part)].filter((name) => !LOCAL.has(name));
  return own.flatMap((name) => {
    const value = (part as Record<string, unknown>)[name];
    if (typeof value === 'function') return [prefix + name];
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? verbsOf(value, `${name}.`) : [];
  });
}

function methodsOf(part: object): string[] {
  const made = Object.getPrototypeOf(part) as object;
  return made === Object.prototype ? [] : Object.getOwnPropertyNames(made);
}
