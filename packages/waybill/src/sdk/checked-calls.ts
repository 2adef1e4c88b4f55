import {
  checkFollowQuery,
  checkJournalQuery,
  checkNames,
  type EventFilter,
  type FollowJobQuery,
  isObject,
  type JobFilter,
  type JobRequest,
  type JournalReadQuery,
  type LimitRule,
  type Waybill,
} from '@waybill/core';
import { checkEnvelopeNames } from './envelope-names.ts';

type DeadLetters = Waybill['deadLetters'];
type DeadMessages = NonNullable<DeadLetters['messages']>;

/**
 * Refuses an argument that has other names than these. The mark is only for the compiler, which takes a check in the table of
 * calls below if it knows exactly the names of the argument: one more would be refused at run time, one less overlooked.
 */
interface Check<Name extends PropertyKey> {
  (owner: string, given: unknown): void;
  readonly exactly?: (name: Name) => Name;
}

const only =
  <Name extends string>(...names: Name[]): Check<NoInfer<Name>> =>
  (owner, given) =>
    checkNames(owner, given, names);

/** The names of a filter, complete by the compiler. */
const namesOf = <T extends object>(names: Readonly<Record<keyof T, true>>): string[] => Object.keys(names);

const JOB_FILTER = namesOf<JobFilter>({
  ...{ tenant: true, idPrefix: true, states: true, queues: true, types: true, dead: true, workflowId: true },
  ...{ errorType: true, createdAfter: true, createdBefore: true, finishedAfter: true, finishedBefore: true },
});
const EVENT_FILTER = namesOf<EventFilter>({ tenant: true, types: true, queues: true, jobIds: true });

const filtered =
  <Name extends string>(filter: readonly string[], ...names: Name[]): Check<NoInfer<Name>> =>
  (owner, given) => {
    checkNames(owner, given, names);
    const { filter: asked } = given as { filter?: unknown };
    if (asked !== undefined) checkNames(`The filter of ${owner.replace('()', '')}`, asked, filter);
  };

const filter: Check<keyof JobFilter> = (owner, given) =>
  checkNames(`The filter of ${owner.replace('()', '')}`, given, JOB_FILTER);

const envelope: Check<keyof JobRequest> = (call, given) => {
  if (isObject(given)) checkEnvelopeNames({ call, at: 'job' }, given);
};
const envelopes: Check<keyof (readonly JobRequest[])> = (call, given) => {
  if (!Array.isArray(given)) return;
  for (const [index, one] of given.entries())
    if (isObject(one)) checkEnvelopeNames({ call, at: `jobs[${index}]` }, one);
};

/** By the engine's own rules, so that a remote connection refuses the same as a store does. */
const journalQuery: Check<keyof JournalReadQuery> = (_, given) => void checkJournalQuery(given as JournalReadQuery);
const followQuery: Check<keyof FollowJobQuery> = (_, given) => void checkFollowQuery(given as FollowJobQuery);

const inTenant = only('tenant');
const RULE = namesOf<LimitRule>({ concurrency: true, rate: true });
const rule: Check<keyof LimitRule> = (owner, given) => {
  if (given !== null) checkNames(`The limit of ${owner.replace('()', '')}`, given, RULE);
};

type AnyCall = (...given: never[]) => unknown;
/** Options that may be left out are always checked; what is unknown to the compiler is the engine's to check. */
type Argument<Given> =
  | Check<keyof NonNullable<Given>>
  | (unknown extends Given ? undefined : undefined extends Given ? never : undefined);
/** What each argument of a call may be; undefined: nothing to check. */
type Arguments<Given extends readonly unknown[]> = { readonly [At in keyof Given]-?: Argument<Given[At]> };
/** Every call is here, so that the compiler asks about a new one. */
type Calls<Group> = {
  readonly [Call in keyof Group]-?: NonNullable<Group[Call]> extends infer Run extends AnyCall
    ? Arguments<Parameters<Run>>
    : never;
};

const MESSAGES: Calls<DeadMessages> = {
  list: [only('tenant', 'queues', 'limit')],
  replay: [only('tenant', 'queues'), only('atMost')],
};

/** Sinks are for servers; a connection has none. */
type Groups = Omit<Waybill, 'health' | 'close' | 'sinks'>;
type GroupsWithinGroups = 'messages' | 'sessions' | 'taskTokens';

const CALLS: { readonly [Group in keyof Groups]-?: Calls<Omit<NonNullable<Groups[Group]>, GroupsWithinGroups>> } = {
  jobs: {
    enqueue: [envelope, only('tenant', 'idempotencyKey', 'within')],
    enqueueMany: [envelopes, only('tenant', 'within', 'onCreated')],
    get: [undefined, only('tenant', 'overBytes')],
    list: [filtered(JOB_FILTER, 'filter', 'limit', 'cursor', 'overBytes')],
    explain: [undefined, inTenant],
    claim: [only('tenant', 'queues', 'count', 'workerId', 'leaseMs', 'claimId', 'waitMs', 'signal')],
    heartbeat: [only('tenant', 'workerId', 'instance', 'jobs', 'leaseMs', 'strict')],
    settle: [only('tenant', 'id', 'leaseToken', 'workerId', 'queue', 'outcome', 'within')],
    report: [only('tenant', 'id', 'leaseToken', 'workerId', 'queue', 'fraction', 'data', 'checkpoint', 'number')],
    spend: [only('tenant', 'id', 'leaseToken', 'workerId', 'queue', 'amounts', 'key', 'number')],
    progress: [undefined, inTenant],
    append: [only('tenant', 'id', 'leaseToken', 'workerId', 'queue', 'entries')],
    journal: [undefined, journalQuery],
    follow: [undefined, followQuery],
    ask: [
      only(...(['tenant', 'id', 'leaseToken', 'queue', 'key', 'text', 'choices', 'details', 'expiresInMs'] as const)),
    ],
    cancel: [undefined, only('tenant', 'by', 'reason')],
    activate: [undefined, inTenant],
    retry: [undefined, inTenant],
    urls: [undefined, only('overBytes')],
  },
  deadLetters: {
    list: [filtered(JOB_FILTER, 'filter', 'limit', 'cursor')],
    get: [undefined, inTenant],
    replay: [undefined, inTenant],
    discard: [undefined, inTenant],
    replayMany: [filter, only('atMost')],
    discardMany: [filter, only('atMost')],
    stats: [filter],
  },
  queues: {
    list: [inTenant],
    stats: [undefined, inTenant],
    pause: [undefined, only('tenant', 'by')],
    resume: [undefined, only('tenant', 'by')],
    setLimit: [undefined, rule, inTenant],
    setKeep: [undefined, undefined, inTenant],
  },
  tenants: {
    list: [only('limit', 'cursor')],
    get: [undefined],
    stats: [undefined],
    setLimits: [undefined, only('waiting', 'enqueueRate', 'concurrency')],
  },
  checks: { run: [only('tenant', 'server')], job: [undefined, inTenant], round: [] },
  budgets: {
    set: [only('unit', 'period', 'limit', 'key'), inTenant],
    list: [only('tenant', 'limit', 'cursor')],
    get: [undefined, inTenant],
    remove: [undefined, inTenant],
  },
  limits: { get: [undefined, inTenant], set: [undefined, rule, inTenant] },
  crons: {
    put: [undefined, inTenant],
    get: [undefined, inTenant],
    list: [inTenant],
    setEnabled: [undefined, undefined, inTenant],
    remove: [undefined, inTenant],
  },
  workflows: {
    create: [undefined, only('tenant', 'within')],
    get: [undefined, inTenant],
    list: [only('tenant', 'idPrefix', 'states', 'limit', 'cursor')],
    nodes: [undefined, only('tenant', 'limit', 'cursor')],
    addNodes: [undefined, undefined, inTenant],
    cancel: [undefined, inTenant],
    signal: [undefined, undefined, undefined, only('tenant', 'by')],
    approve: [undefined, undefined, only('comment', 'iteration'), only('tenant', 'by')],
    requestRevision: [undefined, undefined, only('feedback', 'iteration'), only('tenant', 'by')],
    resume: [undefined, only('tenant', 'nodes')],
  },
  workers: { list: [inTenant], direct: [undefined, undefined, inTenant] },
  questions: {
    list: [only('tenant', 'status', 'jobId', 'idPrefix', 'limit', 'cursor')],
    get: [undefined, inTenant],
    answer: [undefined, only('choice', 'text'), only('tenant', 'by')],
  },
  events: {
    end: [],
    read: [filtered(EVENT_FILTER, 'filter', 'after', 'limit')],
    follow: [filtered(EVENT_FILTER, 'filter', 'after', 'signal', 'onMissed', 'onPlace')],
  },
  records: {
    get: [undefined, undefined, inTenant],
    list: [only('tenant', 'kind', 'prefix', 'limit', 'cursor')],
    put: [only('kind', 'id', 'value', 'expected', 'expiresAt', 'fact'), inTenant],
    remove: [undefined, undefined, only('tenant', 'expected', 'fact')],
  },
  keys: {
    create: [only('name', 'scopes', 'queues', 'types', 'requestsPerMinute', 'expiresAt'), only('tenant', 'by')],
    list: [inTenant],
    get: [undefined, inTenant],
    rotate: [undefined, only('tenant', 'by', 'keepOldMs')],
    revoke: [undefined, only('tenant', 'by')],
    identify: [undefined],
  },
  audit: { record: [only('principal', 'action', 'target', 'outcome', 'name', 'requestId', 'address'), inTenant] },
};

type Call = (...given: unknown[]) => unknown;
/** The checks of one call, when it is no longer said which. */
type Checks = readonly (((owner: string, given: unknown) => void) | undefined)[];

function wrapped<Group extends object>(group: Group, name: string, wanted: Record<string, Checks>): Group {
  const calls = group as unknown as Record<string, Call | undefined>;
  const checked: Record<string, unknown> = { ...calls };
  for (const [callName, checks] of Object.entries(wanted)) {
    const call = calls[callName];
    if (call === undefined) continue;
    const owner = `${name}.${callName}()`;
    const check = (given: readonly unknown[]): void => {
      for (const [at, one] of checks.entries()) if (given[at] !== undefined) one?.(owner, given[at]);
    };
    const run: Call = (...given) => {
      check(given);
      return call.apply(group, given);
    };
    // A stream is answered at once, so its refusal is too.
    checked[callName] = callName === 'follow' ? run : async (...given: unknown[]) => run(...given);
  }
  return checked as unknown as Group;
}

/**
 * The calls of a port, with every name checked that a caller writes: a misspelt `tenat` or `queue` would mean all of
 * them. For people's own calls; the worker and `enqueue` write theirs themselves, and go without.
 */
export function checkedCalls<Group extends keyof Groups>(port: Waybill, group: Group): NonNullable<Waybill[Group]> {
  return wrapped(port[group]!, group, CALLS[group] as Record<string, Checks>);
}

export function checkedDeadLetters({ deadLetters }: Waybill): DeadLetters {
  const { messages } = deadLetters;
  const checked = wrapped(deadLetters, 'deadLetters', CALLS.deadLetters);
  return messages ? { ...checked, messages: wrapped(messages, 'deadLetters.messages', MESSAGES) } : checked;
}
