import {
  isFinished,
  JOB_STATES,
  type Job,
  type JobError,
  type JobSpec,
  type JobState,
  type Json,
  type OutcomeKind,
  rankFor,
  unreadableJob,
} from '@waybill/core';
import { type Item, number, present, text } from './items.ts';
import { duePartition, jobKey, listPartition, partsOf, readyPartition, shardOf } from './keys.ts';
import type { Settings } from './settings.ts';

/** One letter for each state: rows are billed by the byte. */
const STATE_CODES: Record<JobState, string> = {
  scheduled: 's',
  available: 'a',
  pending: 'p',
  active: 'r',
  completed: 'c',
  retryable: 't',
  cancelled: 'k',
  discarded: 'd',
};
const STATES = new Map(JOB_STATES.map((state) => [STATE_CODES[state], state]));

export const codeOf = (state: JobState): string => STATE_CODES[state];
export const stateOf = (item: Item): JobState => STATES.get(item['st'] as string)!;

/** What a change may write. Everything else stays as it was inserted. */
const CHANGING = [
  ...['ty', 'pr', 'sq', 'st', 'nx', 'vr', 'rn', 'at', 'mx', 'ck', 'wk', 'lm', 'lu', 'oc', 'tm', 'ta', 'vm'],
  ...['en', 'sc', 'sa', 'fi', 'ex', 'rd', 'er', 're', 'se', 'sr', 'de', 'hs', 'ap', 'rq', 'rk', 'dp', 'dn', 'x'],
];

/** The columns that change, by their short names, and the keys of the indexes that the row stands in. */
export function changingOf(job: Job, settings: Settings): Item {
  return present({
    ty: job.type,
    pr: job.priority || null,
    sq: job.seq,
    st: codeOf(job.state),
    nx: job.nextAt,
    vr: job.version,
    rn: job.run || null,
    at: job.attempt || null,
    mx: job.maxAttempts,
    ck: job.claimId,
    wk: job.workerId,
    lm: job.leaseMs,
    lu: job.leaseUntil,
    oc: job.outcome,
    tm: job.timeoutMs,
    ta: job.timeoutAt,
    vm: job.visibilityMs,
    en: job.enqueuedAt,
    sc: job.scheduledAt,
    sa: job.startedAt,
    fi: job.finishedAt,
    ex: job.expiresAt,
    rd: job.retryDelayMs,
    er: job.errors.length === 0 ? null : JSON.stringify(job.errors),
    re: job.result === null ? null : JSON.stringify(job.result),
    de: job.dead,
    hs: job.holdsSlot,
    ap: job.advancePending,
    ...indexKeys(job, settings),
    x: expiryOf(job, settings),
  });
}

function indexKeys(job: Job, settings: Settings): Item {
  const rank = rankFor(job);
  const shard = shardOf(job.id, settings.shardsOf(job.queue));
  return present({
    rq: rank !== null && settings.claimsByRank ? readyPartition(job.tenant, job.queue, shard) : null,
    rk: rank !== null && settings.claimsByRank ? rank : null,
    ...alarmAt(job.nextAt, job.id, settings),
  });
}

/** The keys of the index `due`, where the engine looks for what has come. */
export const alarmAt = (moment: number | null, name: string, { dueShards }: Settings): Item =>
  moment === null ? {} : { dp: duePartition(shardOf(name, dueShards)), dn: moment };

/** In seconds, as DynamoDB removes items by. A node stays as long as its workflow (prune-workflows.ts). */
export function expiryOf(job: Job, { retention }: Settings): number | null {
  if (!isFinished(job.state) || job.nextAt !== null || job.finishedAt === null || job.workflowId !== null) return null;
  return secondsOf(job.finishedAt + (job.dead ? retention.deadMs : retention.finishedMs));
}

export const secondsOf = (moment: number): number => Math.ceil(moment / 1000);

/** DynamoDB removes what has expired within days; until then nobody shall see it. */
export const isGone = (item: Item, now: number): boolean =>
  (number(item, 'x') ?? Number.POSITIVE_INFINITY) * 1000 <= now;

/** A whole new row. */
export function toItem(job: Job, settings: Settings): Item {
  const shard = shardOf(job.id, settings.shardsOf(job.queue));
  return {
    ...jobKey(job.tenant, job.id),
    ...changingOf(job, settings),
    ...present({
      q: job.queue,
      cr: job.createdAt,
      ik: job.idempotencyKey,
      uk: job.uniqueKey,
      lk: job.limitKey,
      wf: job.workflowId,
      nd: job.node,
      lq: listPartition(job.tenant, job.queue, shard),
      sp: JSON.stringify(job.spec),
    }),
  };
}

/** What is to be removed from a row that shall have these columns. */
export const absentIn = (changing: Item): string[] => CHANGING.filter((name) => !(name in changing));

export function fromItem(item: Item): Job {
  try {
    return whole(item);
  } catch (cause) {
    throw unreadableJob(partsOf(item['pk'] as string)[1]!, cause);
  }
}

/** The job without the parts kept as JSON: enough to take a row out of the line that cannot be read. */
export const headOf = ({ er: _, re: __, ...item }: Item): Job => whole({ ...item, sp: '{"args":[],"meta":{}}' });

function whole(item: Item): Job {
  const [tenant, id] = partsOf(item['pk'] as string) as [string, string];
  const errors = text(item, 'er');
  const result = text(item, 're');
  const job = {
    tenant,
    id,
    type: item['ty'] as string,
    queue: item['q'] as string,
    priority: number(item, 'pr') ?? 0,
    seq: item['sq'] as number,
    state: stateOf(item),
    rank: null,
    nextAt: number(item, 'nx'),
    version: item['vr'] as number,
    run: number(item, 'rn') ?? 0,
    attempt: number(item, 'at') ?? 0,
    maxAttempts: item['mx'] as number,
    claimId: text(item, 'ck'),
    workerId: text(item, 'wk'),
    leaseMs: number(item, 'lm'),
    leaseUntil: number(item, 'lu'),
    outcome: text(item, 'oc') as OutcomeKind | null,
    timeoutMs: number(item, 'tm'),
    timeoutAt: number(item, 'ta'),
    visibilityMs: number(item, 'vm'),
    createdAt: item['cr'] as number,
    enqueuedAt: number(item, 'en'),
    scheduledAt: number(item, 'sc'),
    startedAt: number(item, 'sa'),
    finishedAt: number(item, 'fi'),
    expiresAt: number(item, 'ex'),
    retryDelayMs: number(item, 'rd'),
    errors: errors === null ? [] : (JSON.parse(errors) as JobError[]),
    result: result === null ? null : (JSON.parse(result) as Json),
    dead: 'de' in item,
    idempotencyKey: text(item, 'ik'),
    uniqueKey: text(item, 'uk'),
    limitKey: text(item, 'lk'),
    holdsSlot: 'hs' in item,
    workflowId: text(item, 'wf'),
    node: text(item, 'nd'),
    advancePending: 'ap' in item,
    spec: JSON.parse(item['sp'] as string) as JobSpec,
  };
  return { ...job, rank: rankFor(job) };
}
