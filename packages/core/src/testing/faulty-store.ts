import type { Store } from '../store/store.ts';

type Verbs<T> = { [K in keyof T]: T[K] extends (...args: never[]) => Promise<unknown> ? K : never }[keyof T] & string;

type Group = 'events' | 'queues' | 'limits' | 'workflows' | 'workers';

/** Every call that can fail, groups included: `insert`, `limits.set`, `events.read` .. */
export type StoreMethod = Verbs<Store> | { [G in Group]: `${G}.${Verbs<Store[G]>}` }[Group];

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

  const { events, queues, limits, workflows, workers } = store;
  return {
    capabilities: store.capabilities,
    clock: store.clock,
    insert: faulty('insert', (groups) => store.insert(groups)),
    get: faulty('get', (keys) => store.get(keys)),
    list: faulty('list', (query) => store.list(query)),
    count: faulty('count', (filter, bound) => store.count(filter, bound)),
    claim: faulty('claim', (requests) => store.claim(requests)),
    claimById: faulty('claimById', (request) => store.claimById(request)),
    apply: faulty('apply', (changes) => store.apply(changes)),
    extend: faulty('extend', (requests) => store.extend(requests)),
    due: faulty('due', (query) => store.due(query)),
    prune: faulty('prune', (request) => store.prune(request)),
    events: {
      read: faulty('events.read', (query) => events.read(query)),
      end: faulty('events.end', () => events.end()),
    },
    queues: {
      list: faulty('queues.list', (tenant) => queues.list(tenant)),
      setPaused: faulty('queues.setPaused', (tenant, name, paused) => queues.setPaused(tenant, name, paused)),
    },
    limits: {
      set: faulty('limits.set', (settings) => limits.set(settings)),
      get: faulty('limits.get', (tenant, key) => limits.get(tenant, key)),
    },
    workflows: { advance: faulty('workflows.advance', (request) => workflows.advance(request)) },
    workers: {
      beat: faulty('workers.beat', (beat) => workers.beat(beat)),
      direct: faulty('workers.direct', (tenant, id, directive) => workers.direct(tenant, id, directive)),
      list: faulty('workers.list', (tenant) => workers.list(tenant)),
    },
    onWake: (listener) => store.onWake(listener),
    ping: faulty('ping', () => store.ping()),
    close: faulty('close', () => store.close()),
    calls: (method) => counts.get(method) ?? 0,
  };
}

const errorOf = ({ error, method, call, when }: Fault): unknown =>
  error ?? new Error(`The connection broke ${when} the effect of ${method}, call ${call}.`);
