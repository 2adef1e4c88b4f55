import type { Budget, DeadLetters, DeadMessages, RecordPut, Waybill } from '../../waybill.ts';

/** What the audit says of a call besides its name. Callers may send anything, so neither is known to be a text. */
export interface CallFacts {
  target?: unknown;
  tenant?: unknown;
  /** Under which name the call is written down. @defaultValue the group and the call, such as `queues.pause` */
  action?: string;
  /** Changes nothing: it is written down only where the caller may not. Else each look at a list would be an entry. */
  isRead?: true;
}

type AnyCall = (...given: never[]) => unknown;
/** How the facts of an administrative call are read from its arguments; null: the call is not administrative. */
type Row<Call> = null | ((...given: Call extends AnyCall ? Partial<Parameters<Call>> : never) => CallFacts);
/** Every call is here, so that the compiler asks about a new one. */
type Rows<Group> = { readonly [Call in keyof Group]-?: Row<NonNullable<Group[Call]>> };

interface Context {
  tenant?: string | undefined;
}

/** For a call whose first argument is a name or id, and whose last is the context. */
const named = (target: unknown, context?: Context): CallFacts => ({ target, tenant: context?.tenant });
const filtered = (filter?: Context): CallFacts => ({ tenant: filter?.tenant });
const read = (facts: CallFacts): CallFacts => ({ ...facts, isRead: true });

/** A record is written down under its kind, as people know it: `webhooks.create` and not `records.put`. */
const ofRecord = (kind: unknown, verb: string, facts: CallFacts): CallFacts =>
  typeof kind === 'string' && /^[a-z][a-z-]{0,40}$/.test(kind) ? { ...facts, action: `${kind}s.${verb}` } : facts;

/** What the log calls a change, and how the audit calls the call that made it. */
const VERBS: Readonly<Record<string, string>> = {
  ...{ created: 'create', opened: 'create', changed: 'change', rotated: 'rotate', removed: 'remove' },
  ...{ paused: 'pause', resumed: 'resume', closed: 'close', escalated: 'change' },
};

function verbOf(request: Partial<RecordPut> | undefined): string {
  const fact = String(request?.fact?.type ?? '');
  return VERBS[fact.slice(fact.lastIndexOf('.') + 1)] ?? (request?.expected === 0 ? 'create' : 'change');
}

/** As its id, with whatever the caller has sent for one. */
const targetOf = ({ unit, period, key }: Partial<Budget> = {}): string =>
  [unit, period, ...(key == null ? [] : [key])].join(':').slice(0, 300);

/** Sinks are run by servers, not by callers. */
type Groups = Omit<Waybill, 'health' | 'close' | 'sinks'>;
type Calls = {
  readonly [Group in keyof Groups]-?: Rows<Omit<NonNullable<Groups[Group]>, 'messages' | 'sessions' | 'taskTokens'>>;
};

export const MESSAGE_CALLS: Rows<DeadMessages> = { list: null, replay: filtered };

/** Every call of the port, and what the audit says of those that take the scope `admin`. */
export const ADMINISTRATIVE_CALLS: Calls = {
  jobs: {
    ...{ enqueue: null, enqueueMany: null, get: null, list: null, claim: null, heartbeat: null, settle: null },
    ...{ explain: null, report: null, progress: null, spend: null, append: null, journal: null, follow: null },
    ...{ ask: null, cancel: null, activate: null, urls: null },
    retry: named,
  },
  deadLetters: {
    ...{ list: null, get: null, stats: null },
    ...{ replay: named, discard: named, replayMany: filtered, discardMany: filtered },
  } satisfies Rows<Omit<DeadLetters, 'messages'>>,
  queues: {
    ...{ list: null, stats: null, pause: named, resume: named },
    setLimit: (name, _, context) => named(name, context),
    setKeep: (name, _, context) => named(name, context),
  },
  limits: { get: null, set: (key, _, context) => named(key, context) },
  crons: {
    ...{ get: null, list: null, remove: named },
    put: (request, context) => named(request?.name, context),
    setEnabled: (name, _, context) => named(name, context),
  },
  workflows: {
    ...{ create: null, get: null, list: null, nodes: null, addNodes: null, cancel: null, signal: null },
    resume: named,
    approve: (id, _, __, context) => named(id, context),
    requestRevision: (id, _, __, context) => named(id, context),
  },
  workers: { list: null, direct: (id, _, context) => named(id, context) },
  questions: { list: null, get: null, answer: (id, _, context) => named(id, context) },
  events: { read: null, end: null, follow: null },
  checks: { run: null, job: null, round: null },
  records: {
    get: (kind, id, context) => ofRecord(kind, 'get', read(named(id, context))),
    list: (query) => ofRecord(query?.kind, 'list', read(filtered(query))),
    put: (request, context) => ofRecord(request?.kind, verbOf(request), named(request?.id, context)),
    remove: (kind, id, context) => ofRecord(kind, 'remove', named(id, context)),
  },
  keys: {
    create: (request, context) => named(request?.name, context),
    ...{ rotate: named, revoke: named },
    list: (context) => read(filtered(context)),
    get: (id, context) => read(named(id, context)),
    // Each request asks this, before it is known who sends it.
    identify: null,
  },
  // Who has the limit is both what is changed and whose it is.
  tenants: { list: null, get: null, stats: null, setLimits: (tenant) => ({ target: tenant, tenant }) },
  budgets: {
    ...{ list: null, get: null, remove: named },
    set: (budget, context) => named(targetOf(budget), context),
  },
  // To write of the audit into the audit would never end.
  audit: { record: null },
};
