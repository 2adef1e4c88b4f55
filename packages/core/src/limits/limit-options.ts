import { Fields } from '../check.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { JobSpec } from '../job/job.ts';
import type { LimitRule } from './limit.ts';

export interface JobLimit {
  key: string;
  /** Null: the job obeys whatever rule the key has. */
  rule: LimitRule | null;
}

const KEY = /^[a-zA-Z0-9][a-zA-Z0-9._:-]*$/;
const MAX_KEY = 255;
const MOST = 1_000_000;
const LONGEST_MS = 366 * 86_400_000;
const SHORTEST_MS = 100;

export const isLimitKey = (key: string): boolean => key.length <= MAX_KEY && KEY.test(key);

/** Shorthands of the suites: `max_per_second: 1`, and `rate: 1, period: 'second'`. */
const NAMED_PERIODS_MS = { second: 1_000, minute: 60_000, hour: 3_600_000, day: 86_400_000 } as const;
type NamedPeriod = keyof typeof NAMED_PERIODS_MS;

/** So many starts per period: an ISO 8601 duration like `PT1M`, or milliseconds. */
export type RateOptions = { limit: number } & (
  | { period: string; period_ms?: number }
  | { period?: string; period_ms: number }
);

/** `options.rate_limit` as a producer writes it: how many may run at once or start per period; see docs/limits.md. */
export interface LimitOptions {
  /** @defaultValue `queue:` and the name of the job's queue */
  key?: string;
  /** Nothing is ever dropped. @defaultValue 'wait' */
  on_limit?: 'wait';
  concurrency?: number;
  /** As a number: so many per `period`. */
  rate?: RateOptions | number;
  /** Of a rate that is a number: second, minute, hour, day, or an ISO 8601 duration. @defaultValue 'second' */
  period?: string;
  /** A rate spaced out: one start per even share of the period. */
  throttle?: RateOptions;
  max_per_second?: number;
  max_per_minute?: number;
  max_per_hour?: number;
  max_per_day?: number;
}

/** Every name of `options.rate_limit`: what limits by itself, what belongs to a rule, and what only a job says. */
const LIMIT_FIELDS: Readonly<Record<keyof LimitOptions, 'limits' | 'of a rule' | 'of a job'>> = {
  key: 'of a job',
  on_limit: 'of a job',
  concurrency: 'limits',
  rate: 'limits',
  period: 'of a rule',
  throttle: 'limits',
  max_per_second: 'limits',
  max_per_minute: 'limits',
  max_per_hour: 'limits',
  max_per_day: 'limits',
};
export const LIMIT_NAMES = Object.keys(LIMIT_FIELDS) as readonly (keyof LimitOptions)[];
const LIMITING = LIMIT_NAMES.filter((name) => LIMIT_FIELDS[name] === 'limits');
const RULE_NAMES = LIMIT_NAMES.filter((name) => LIMIT_FIELDS[name] !== 'of a job');

const RATE_FIELDS: Readonly<Record<keyof RateOptions, true>> = { limit: true, period: true, period_ms: true };
/** Every name of a rate or a throttle that is an object. */
export const RATE_NAMES: readonly string[] = Object.keys(RATE_FIELDS);

/** Reads `options.rate_limit`. Without a key of its own a job shares the limit of its queue's name. */
export function checkLimit(options: Fields, queue: string): JobLimit | null {
  const limit = options.fields('rate_limit');
  if (limit === undefined) return null;
  limit.refuseUnknown(LIMIT_NAMES);
  const action = limit.oneOf('on_limit', ['wait', 'reschedule', 'drop']) ?? 'wait';
  if (action !== 'wait') {
    throw new WaybillError('unsupported', `'${limit.name('on_limit')}' can only be wait: nothing is dropped here.`);
  }
  const key = limit.string('key', { max: MAX_KEY }) ?? `queue:${queue}`;
  if (!KEY.test(key))
    throw invalidField(limit.name('key'), 'must be letters, digits and . _ : -, beginning with a letter or digit.');
  const isKeyOnly = limit.has('key') && !LIMITING.some((field) => limit.has(field));
  return { key, rule: isKeyOnly ? null : readRule(limit) };
}

/**
 * The rule that a job brought with it; null where it only named a key. A limit that nobody used for long is removed, and
 * a job of it that is run again brings its rule back. What cannot be read is no rule: the job must run all the same.
 */
export function ruleInSpec({ options }: Pick<JobSpec, 'options'>): LimitRule | null {
  if (options?.['rate_limit'] === undefined) return null;
  try {
    return checkLimit(new Fields(options, 'options'), '')?.rule ?? null;
  } catch {
    return null;
  }
}

/** What a limit tells of itself; it may be sent back as it was answered. */
const ANSWERED = ['key', 'holders', 'parked'];

/** Reads a limit that stands by itself. */
export function checkLimitRule(limit: Fields): LimitRule {
  limit.refuseUnknown([...RULE_NAMES, ...ANSWERED]);
  return readRule(limit);
}

function readRule(limit: Fields): LimitRule {
  const concurrency = limit.integer('concurrency', { min: 1, max: MOST }) ?? null;
  const rates = [...perNamed(limit), perShorthand(limit), perObject(limit, 'rate'), spaced(limit)].filter(
    (rate) => rate !== null,
  );
  if (rates.length > 1) throw invalidField(limit.name('rate'), 'must be given in one way only.');
  const rate = rates[0] ?? null;
  if (concurrency === null && rate === null) {
    throw invalidField(limit.name('concurrency'), "or 'rate' is required: a limit must limit something.");
  }
  return { concurrency, rate };
}

/** Refuses a rule that an embedded caller has made itself; what is absent is not limited. */
export function checkedRule(rule: LimitRule, field: string): LimitRule {
  const given = new Fields(rule, field);
  given.refuseUnknown(['concurrency', 'rate']);
  const concurrency = given.integer('concurrency', { min: 1, max: MOST }) ?? null;
  const rate = given.fields('rate');
  if (concurrency === null && rate === undefined)
    throw invalidField(given.name('concurrency'), "or 'rate' is required: a limit must limit something.");
  if (rate === undefined) return { concurrency, rate: null };
  const limit = rate.integer('limit', { min: 1, max: MOST });
  const periodMs = rate.integer('periodMs', { min: SHORTEST_MS, max: LONGEST_MS });
  if (limit === undefined) throw invalidField(rate.name('limit'), 'is required.');
  if (periodMs === undefined) throw invalidField(rate.name('periodMs'), 'is required.');
  return { concurrency, rate: { limit, periodMs } };
}

function perNamed(limit: Fields): LimitRule['rate'][] {
  return Object.entries(NAMED_PERIODS_MS).map(([name, periodMs]) => {
    const count = limit.integer(`max_per_${name}`, { min: 1, max: MOST });
    return count === undefined ? null : { limit: count, periodMs };
  });
}

function perShorthand(limit: Fields): LimitRule['rate'] {
  if (typeof limit.value('rate') !== 'number') return null;
  const count = limit.integer('rate', { min: 1, max: MOST })!;
  const named = limit.string('period') ?? 'second';
  if (Object.hasOwn(NAMED_PERIODS_MS, named)) return { limit: count, periodMs: NAMED_PERIODS_MS[named as NamedPeriod] };
  return { limit: count, periodMs: readPeriod(limit) };
}

function perObject(limit: Fields, name: string): LimitRule['rate'] {
  const value = limit.value(name);
  if (value === undefined || (name === 'rate' && typeof value === 'number')) return null;
  const rate = limit.fields(name)!;
  rate.refuseUnknown(RATE_NAMES);
  const count = rate.integer('limit', { min: 1, max: MOST });
  if (count === undefined) throw invalidField(rate.name('limit'), 'is required.');
  return { limit: count, periodMs: readPeriod(rate) };
}

/** A throttle is a rate of one start per even share of its period. */
function spaced(limit: Fields): LimitRule['rate'] {
  const throttle = perObject(limit, 'throttle');
  return throttle && { limit: 1, periodMs: Math.max(SHORTEST_MS, Math.ceil(throttle.periodMs / throttle.limit)) };
}

function readPeriod(fields: Fields): number {
  const ms = fields.durationOrMs('period', { max: LONGEST_MS });
  if (ms === undefined || ms < SHORTEST_MS) {
    throw invalidField(fields.name('period'), `must be a duration of at least ${SHORTEST_MS} ms, like PT1M.`);
  }
  return ms;
}
