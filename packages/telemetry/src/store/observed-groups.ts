import { type Store, SYSTEM_TENANT } from '@waybill/core';
import type { ObservedCalls } from './observed-calls.ts';
import { ofJobs, ofMany, ofRows } from './told-of.ts';

type Groups = Pick<
  Store,
  'events' | 'reports' | 'journal' | 'queues' | 'limits' | 'workflows' | 'workers' | 'crons' | 'records' | 'locks'
>;

/** The groups of a store. They are called one by one, so their spans belong to whatever is active. */
export function observedGroups(store: Groups, calls: ObservedCalls): Groups {
  const { events, reports, journal, queues, limits, workflows, workers, crons, records, locks } = store;
  return {
    events: {
      // Followers read all the time: only what they find is worth a span.
      read: (query) =>
        calls.run('events.read', () => events.read(query), {
          found: ({ events: found }) => (found.length === 0 ? null : { count: found.length }),
        }),
      end: () => calls.run('events.end', () => events.end(), { found: () => null }),
      tell: (told) => calls.run('events.tell', () => events.tell(told), { asked: () => ({ count: told.length }) }),
    },
    reports: {
      add: (requests) =>
        calls.run('reports.add', () => reports.add(requests), {
          asked: () => ofMany(requests.length),
        }),
      get: (keys) => calls.run('reports.get', () => reports.get(keys), { asked: () => ({ count: keys.length }) }),
    },
    ...(journal && {
      journal: {
        append: (requests) =>
          calls.run('journal.append', () => journal.append(requests), { asked: () => ofMany(requests.length) }),
        // Followers read again and again, as those of the log do.
        read: (query) =>
          calls.run('journal.read', () => journal.read(query), {
            found: ({ batches: { length } }) => (length === 0 ? null : { count: length }),
          }),
        onGrown: (listener) => journal.onGrown(listener),
      },
    }),
    queues: {
      list: (tenant) =>
        calls.run('queues.list', () => queues.list(tenant), { found: ({ length }) => ({ count: length }) }),
      stats: (tenant, name, bound) => calls.run('queues.stats', () => queues.stats(tenant, name, bound)),
      setPaused: (tenant, name, paused, told) =>
        calls.run('queues.setPaused', () => queues.setPaused(tenant, name, paused, told)),
      setLimit: (tenant, name, limit, told) =>
        calls.run('queues.setLimit', () => queues.setLimit(tenant, name, limit, told)),
      setKeep: (tenant, name, keep, told) =>
        calls.run('queues.setKeep', () => queues.setKeep(tenant, name, keep, told)),
      setTenantLimit: (tenant, concurrency) =>
        calls.run('queues.setTenantLimit', () => queues.setTenantLimit(tenant, concurrency)),
      tenants: (query) => calls.run('queues.tenants', () => queues.tenants(query)),
    },
    limits: {
      set: (tenant, key, rule, now) => calls.run('limits.set', () => limits.set(tenant, key, rule, now)),
      get: (tenant, key) => calls.run('limits.get', () => limits.get(tenant, key)),
    },
    workflows: {
      get: (tenant, id) => calls.run('workflows.get', () => workflows.get(tenant, id)),
      list: (query) => calls.run('workflows.list', () => workflows.list(query)),
      meet: (parents) => calls.run('workflows.meet', () => workflows.meet(parents), { found: (jobs) => ofJobs(jobs) }),
      waiting: (parents) =>
        calls.run('workflows.waiting', () => workflows.waiting(parents), { found: (jobs) => ofJobs(jobs) }),
      parents: (children) =>
        calls.run('workflows.parents', () => workflows.parents(children), {
          asked: () => ({ count: children.ids.length }),
        }),
      hasUnfinished: (tenant, id) => calls.run('workflows.hasUnfinished', () => workflows.hasUnfinished(tenant, id)),
      move: (request) =>
        calls.run('workflows.move', () => workflows.move(request), { asked: () => ofRows(request.jobs) }),
    },
    workers: {
      beat: (beat) => calls.run('workers.beat', () => workers.beat(beat)),
      direct: (tenant, id, directive, told) =>
        calls.run('workers.direct', () => workers.direct(tenant, id, directive, told)),
      list: (tenant) => calls.run('workers.list', () => workers.list(tenant)),
    },
    crons: {
      put: (cron, told) => calls.run('crons.put', () => crons.put(cron, told)),
      get: (tenant, name) => calls.run('crons.get', () => crons.get(tenant, name)),
      enable: (request, told) => calls.run('crons.enable', () => crons.enable(request, told)),
      list: (tenant) => calls.run('crons.list', () => crons.list(tenant)),
      remove: (tenant, name, told) => calls.run('crons.remove', () => crons.remove(tenant, name, told)),
      fire: (request) =>
        calls.run('crons.fire', () => crons.fire(request), { asked: () => ofRows(request.job ? [request.job] : []) }),
    },
    records: {
      get: (keys) => calls.run('records.get', () => records.get(keys), { asked: () => ({ count: keys.length }) }),
      put: (requests) =>
        calls.run('records.put', () => records.put(requests), { asked: () => ({ count: requests.length }) }),
      // What an engine caches of the whole system, such as limits, it reads in passing: no caller's trace has it.
      list: (query) =>
        calls.run('records.list', () => records.list(query), {
          found: ({ items: { length } }) =>
            length === 0 ? null : { count: length, ...(query.tenant === SYSTEM_TENANT && { traces: [] }) },
        }),
      remove: (key, expected, told) => calls.run('records.remove', () => records.remove(key, expected, told)),
    },
    locks: {
      take: (request) => calls.run('locks.take', () => locks.take(request)),
      release: (request) => calls.run('locks.release', () => locks.release(request)),
    },
  };
}
