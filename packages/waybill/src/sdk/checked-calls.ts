import { checkNames, type EventFilter, isObject, type JobFilter, type Waybill } from '@waybill/core';
import { checkEnvelopeNames } from './envelope-names.ts';

type DeadLetters = Waybill['deadLetters'];
type DeadMessages = NonNullable<DeadLetters['messages']>;

/** What an argument of a call may have; `filter` is a part of it. */
type Names = readonly string[];
type Check = (owner: string, given: unknown) => void;

const only =
  (...names: string[]): Check =>
  (owner, given) =>
    checkNames(owner, given, names);

/** The names of a request, complete by the compiler: a new one that is not here would be refused at run time. */
const namesOf = <T extends object>(names: Readonly<Record<keyof T, true>>): string[] => Object.keys(names);
type Request<Call extends (...given: never[]) => unknown> = Required<NonNullable<Parameters<Call>[0]>>;

const JOB_FILTER = namesOf<JobFilter>({
  ...{ tenant: true, idPrefix: true, states: true, queues: true, types: true, dead: true, workflowId: true },
  ...{ errorType: true, createdAfter: true, createdBefore: true, finishedAfter: true, finishedBefore: true },
});
const EVENT_FILTER = namesOf<EventFilter>({ tenant: true, types: true, queues: true, jobIds: true });
const CLAIM = namesOf<Request<Waybill['jobs']['claim']>>({
  ...{
    tenant: true,
    queues: true,
    count: true,
    workerId: true,
    leaseMs: true,
    claimId: true,
    waitMs: true,
    signal: true,
  },
});
const HEARTBEAT = namesOf<Request<Waybill['jobs']['heartbeat']>>({
  ...{ tenant: true, workerId: true, instance: true, jobs: true, leaseMs: true },
});
const SETTLE = namesOf<Request<Waybill['jobs']['settle']>>({
  ...{ tenant: true, id: true, leaseToken: true, workerId: true, outcome: true, within: true },
});
const REPORT = namesOf<Request<Waybill['jobs']['report']>>({
  ...{
    tenant: true,
    id: true,
    leaseToken: true,
    workerId: true,
    fraction: true,
    data: true,
    checkpoint: true,
    number: true,
  },
});
const WORKFLOWS = namesOf<Request<Waybill['workflows']['list']>>({
  ...{ tenant: true, idPrefix: true, states: true, limit: true, cursor: true },
});
const JOBS = namesOf<Request<Waybill['jobs']['list']>>({ filter: true, limit: true, cursor: true, overBytes: true });
const READ = namesOf<Request<Waybill['events']['read']>>({ filter: true, after: true, limit: true });
const FOLLOW = namesOf<Request<Waybill['events']['follow']>>({
  ...{ filter: true, after: true, signal: true, onMissed: true, onPlace: true },
});

const filtered =
  (filter: Names, names: Names): Check =>
  (owner, given) => {
    checkNames(owner, given, names);
    const { filter: asked } = given as { filter?: unknown };
    if (asked !== undefined) checkNames(`The filter of ${owner.replace('()', '')}`, asked, filter);
  };

const filter: Check = (owner, given) => checkNames(`The filter of ${owner.replace('()', '')}`, given, JOB_FILTER);

const envelope: Check = (call, given) => {
  if (isObject(given)) checkEnvelopeNames({ call, at: 'job' }, given);
};
const envelopes: Check = (call, given) => {
  if (!Array.isArray(given)) return;
  for (const [index, one] of given.entries())
    if (isObject(one)) checkEnvelopeNames({ call, at: `jobs[${index}]` }, one);
};

const inTenant = only('tenant');
const rule = (owner: string, given: unknown): void => {
  if (given !== null) checkNames(`The limit of ${owner.replace('()', '')}`, given, ['concurrency', 'rate']);
};
const jobQuery = filtered(JOB_FILTER, JOBS);

/** What each argument of a call may be; undefined: nothing to check. */
type Arguments = readonly (Check | undefined)[];
/** Every call is here, so that the compiler asks about a new one. */
type Calls<Group> = { readonly [Call in keyof Group]-?: Arguments };

const MESSAGES: Calls<DeadMessages> = {
  list: [only('tenant', 'queues', 'limit')],
  replay: [only('tenant', 'queues'), only('atMost')],
};

type Groups = Omit<Waybill, 'health' | 'close'>;

const CALLS: { readonly [Group in keyof Groups]-?: Calls<Omit<NonNullable<Groups[Group]>, 'messages'>> } = {
  jobs: {
    enqueue: [envelope, only('tenant', 'idempotencyKey', 'within')],
    enqueueMany: [envelopes, only('tenant', 'within')],
    get: [undefined, only('tenant', 'overBytes')],
    list: [jobQuery],
    claim: [only(...CLAIM)],
    heartbeat: [only(...HEARTBEAT)],
    settle: [only(...SETTLE)],
    report: [only(...REPORT)],
    progress: [undefined, inTenant],
    cancel: [undefined, only('tenant', 'by', 'reason')],
    activate: [undefined, inTenant],
    retry: [undefined, inTenant],
    urls: [undefined, only('overBytes')],
  },
  deadLetters: {
    list: [jobQuery],
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
    list: [only(...WORKFLOWS)],
    nodes: [undefined, only('tenant', 'limit', 'cursor')],
    addNodes: [undefined, undefined, inTenant],
    cancel: [undefined, inTenant],
    resume: [undefined, inTenant],
  },
  workers: { list: [inTenant], direct: [undefined, undefined, inTenant] },
  events: {
    end: [],
    read: [filtered(EVENT_FILTER, READ)],
    follow: [filtered(EVENT_FILTER, FOLLOW)],
  },
  records: {
    get: [undefined, undefined, inTenant],
    list: [only('tenant', 'kind', 'prefix', 'limit', 'cursor')],
    put: [only('kind', 'id', 'value', 'expected', 'expiresAt', 'fact'), inTenant],
    remove: [undefined, undefined, only('tenant', 'expected', 'fact')],
  },
};

type Call = (...given: unknown[]) => unknown;

function wrapped<Group extends object>(group: Group, name: string, wanted: Record<string, Arguments>): Group {
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
  return wrapped(port[group]!, group, CALLS[group] as Record<string, Arguments>);
}

export function checkedDeadLetters({ deadLetters }: Waybill): DeadLetters {
  const { messages } = deadLetters;
  const checked = wrapped(deadLetters, 'deadLetters', CALLS.deadLetters);
  return messages ? { ...checked, messages: wrapped(messages, 'deadLetters.messages', MESSAGES) } : checked;
}
