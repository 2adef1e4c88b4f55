import type { WriteOptions } from '../store/lock-held.ts';
import type { Store } from '../store/store.ts';

type Verbs<T> = { [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never }[keyof T] & string;

type Group =
  | 'events'
  | 'reports'
  | 'queues'
  | 'limits'
  | 'workflows'
  | 'workers'
  | 'crons'
  | 'records'
  | 'locks'
  | 'journal';

/** Every call that can fail, groups included: `insert`, `limits.set`, `events.read` .. */
export type StoreMethod = Verbs<Required<Store>> | { [G in Group]: `${G}.${Verbs<NonNullable<Store[G]>>}` }[Group];

export interface Fault {
  method: StoreMethod;
  /** Which call of that method, counted from 1. */
  call: number;
  /** `before`: nothing happens. `after`: it happens, and the caller does not learn of it. */
  when: 'before' | 'after';
  /** @defaultValue an Error that names the call */
  error?: unknown;
}

export interface FaultyStore extends Store {
  /** Calls of a method so far, failed ones included. */
  calls(method: StoreMethod): number;
}

/** A connection that breaks where the plan says. The plan is read at every call, so a test may add to it later. */
export function faultyStore(store: Store, plan: readonly Fault[]): FaultyStore {
  const counts = new Map<string, number>();

  const faulty =
    <In extends unknown[], Out>(method: StoreMethod, run: (...args: In) => Promise<Out>) =>
    async (...args: In): Promise<Out> => {
      const call = (counts.get(method) ?? 0) + 1;
      counts.set(method, call);
      const fault = plan.find((planned) => planned.method === method && planned.call === call);
      if (fault?.when === 'before') throw errorOf(fault);
      const answer = await run(...args);
      if (fault) throw errorOf(fault);
      return answer;
    };

  const { events, reports, queues, limits, workflows, workers, crons, records, locks, journal } = store;
  return {
    ...(store.within && { within: (transaction) => store.within!(transaction) }),
    capabilities: store.capabilities,
    clock: store.clock,
    insert: faulty('insert', (groups, options?: WriteOptions) => store.insert(groups, options)),
    get: faulty('get', (keys) => store.get(keys)),
    list: faulty('list', (query) => store.list(query)),
    count: faulty('count', (filter, bound) => store.count(filter, bound)),
    claim: faulty('claim', (requests) => store.claim(requests)),
    claimById: faulty('claimById', (request) => store.claimById(request)),
    ...(store.insertAndClaim && {
      insertAndClaim: faulty('insertAndClaim', (group, request) => store.insertAndClaim!(group, request)),
    }),
    ...(store.opensAt && { opensAt: (query) => store.opensAt!(query) }),
    apply: faulty('apply', (changes, options?: WriteOptions) => store.apply(changes, options)),
    extend: faulty('extend', (requests) => store.extend(requests)),
    due: faulty('due', (query) => store.due(query)),
    prune: faulty('prune', (request) => store.prune(request)),
    ...(store.keepFor && { keepFor: (retention) => store.keepFor!(retention) }),
    ...(store.useReminders && { useReminders: (firstMs) => store.useReminders!(firstMs) }),
    events: {
      read: faulty('events.read', (query) => events.read(query)),
      end: faulty('events.end', () => events.end()),
      tell: faulty('events.tell', (told) => events.tell(told)),
    },
    reports: {
      add: faulty('reports.add', (requests) => reports.add(requests)),
      get: faulty('reports.get', (keys) => reports.get(keys)),
    },
    queues: {
      list: faulty('queues.list', (tenant) => queues.list(tenant)),
      stats: faulty('queues.stats', (tenant, name, bound) => queues.stats(tenant, name, bound)),
      setPaused: faulty('queues.setPaused', (tenant, name, paused, told) =>
        queues.setPaused(tenant, name, paused, told),
      ),
      setLimit: faulty('queues.setLimit', (tenant, name, limit, told) => queues.setLimit(tenant, name, limit, told)),
      setKeep: faulty('queues.setKeep', (tenant, name, keep, told) => queues.setKeep(tenant, name, keep, told)),
      setTenantLimit: faulty('queues.setTenantLimit', (tenant, concurrency) =>
        queues.setTenantLimit(tenant, concurrency),
      ),
      tenants: faulty('queues.tenants', (query) => queues.tenants(query)),
    },
    limits: {
      set: faulty('limits.set', (tenant, key, rule, now) => limits.set(tenant, key, rule, now)),
      get: faulty('limits.get', (tenant, key) => limits.get(tenant, key)),
    },
    workflows: {
      get: faulty('workflows.get', (tenant, id) => workflows.get(tenant, id)),
      list: faulty('workflows.list', (query) => workflows.list(query)),
      meet: faulty('workflows.meet', (parents) => workflows.meet(parents)),
      waiting: faulty('workflows.waiting', (parents) => workflows.waiting(parents)),
      parents: faulty('workflows.parents', (children) => workflows.parents(children)),
      hasUnfinished: faulty('workflows.hasUnfinished', (tenant, id) => workflows.hasUnfinished(tenant, id)),
      move: faulty('workflows.move', (request) => workflows.move(request)),
    },
    crons: {
      put: faulty('crons.put', (cron, told) => crons.put(cron, told)),
      get: faulty('crons.get', (tenant, name) => crons.get(tenant, name)),
      enable: faulty('crons.enable', (request, told) => crons.enable(request, told)),
      list: faulty('crons.list', (tenant) => crons.list(tenant)),
      remove: faulty('crons.remove', (tenant, name, told) => crons.remove(tenant, name, told)),
      fire: faulty('crons.fire', (request) => crons.fire(request)),
    },
    workers: {
      beat: faulty('workers.beat', (beat) => workers.beat(beat)),
      direct: faulty('workers.direct', (tenant, id, directive, told) => workers.direct(tenant, id, directive, told)),
      list: faulty('workers.list', (tenant) => workers.list(tenant)),
    },
    records: {
      get: faulty('records.get', (keys) => records.get(keys)),
      put: faulty('records.put', (requests) => records.put(requests)),
      list: faulty('records.list', (query) => records.list(query)),
      remove: faulty('records.remove', (key, expected, told) => records.remove(key, expected, told)),
    },
    ...(journal && {
      journal: {
        append: faulty('journal.append', (requests) => journal.append(requests)),
        read: faulty('journal.read', (query) => journal.read(query)),
        onGrown: (listener) => journal.onGrown(listener),
      },
    }),
    locks: {
      take: faulty('locks.take', (request) => locks.take(request)),
      release: faulty('locks.release', (request) => locks.release(request)),
    },
    onWake: (listener) => store.onWake(listener),
    ping: faulty('ping', () => store.ping()),
    close: faulty('close', () => store.close()),
    calls: (method) => counts.get(method) ?? 0,
  };
}

const errorOf = ({ error, method, call, when }: Fault): unknown =>
  error ?? new Error(`The connection broke ${when} the effect of ${method}, call ${call}.`);
