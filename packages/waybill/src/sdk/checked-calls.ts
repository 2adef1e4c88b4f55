import { checkNames, isObject, type Waybill } from '@waybill/core';
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

const JOB_FILTER = [
  ...['tenant', 'states', 'queues', 'types', 'dead', 'workflowId', 'errorType'],
  ...['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'],
];
const EVENT_FILTER = ['tenant', 'types', 'queues', 'jobIds'];

const filtered =
  (filter: Names, ...names: string[]): Check =>
  (owner, given) => {
    checkNames(owner, given, ['filter', ...names]);
    const { filter: asked } = given as { filter?: unknown };
    if (asked !== undefined) checkNames(`The filter of ${owner.replace('()', '')}`, asked, filter);
  };

const filter: Check = (owner, given) => checkNames(`The filter of ${owner.replace('()', '')}`, given, JOB_FILTER);

const envelope: Check = (owner, given) => {
  if (isObject(given)) checkEnvelopeNames(`The job of ${owner}`, given);
};
const envelopes: Check = (owner, given) => {
  if (Array.isArray(given)) for (const [index, one] of given.entries()) envelope(`${owner} jobs[${index}]`, one);
};

const inTenant = only('tenant');
const rule = (owner: string, given: unknown): void => {
  if (given !== null) checkNames(`The limit of ${owner.replace('()', '')}`, given, ['concurrency', 'rate']);
};
const fence = ['tenant', 'id', 'leaseToken', 'workerId'];
const jobQuery = filtered(JOB_FILTER, 'limit', 'cursor', 'overBytes');

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
    claim: [only('tenant', 'queues', 'count', 'workerId', 'leaseMs', 'claimId', 'waitMs', 'signal')],
    heartbeat: [only('tenant', 'workerId', 'jobs', 'leaseMs')],
    settle: [only(...fence, 'outcome', 'within')],
    report: [only(...fence, 'fraction', 'data', 'checkpoint', 'number')],
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
    list: [only('tenant', 'states', 'limit', 'cursor')],
    nodes: [undefined, only('tenant', 'limit', 'cursor')],
    addNodes: [undefined, undefined, inTenant],
    cancel: [undefined, inTenant],
    resume: [undefined, inTenant],
  },
  workers: { list: [inTenant], direct: [undefined, undefined, inTenant] },
  events: {
    end: [],
    read: [filtered(EVENT_FILTER, 'after', 'limit')],
    follow: [filtered(EVENT_FILTER, 'after', 'signal', 'onMissed', 'onPlace')],
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
