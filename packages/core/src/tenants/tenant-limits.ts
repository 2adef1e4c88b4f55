import { Fields } from '../check.ts';
import { invalidField } from '../errors.ts';
import type { JsonObject } from '../json.ts';
import { SYSTEM_TENANT } from '../store/records.ts';

/** What an operator allows a tenant; null: any number. */
export interface TenantLimits {
  /** Jobs that may wait: available, scheduled, retryable or pending. Checked when jobs are enqueued. */
  waiting: number | null;
  /** Jobs that may be enqueued in any stretch of one period. */
  enqueueRate: { limit: number; periodMs: number } | null;
  /** Jobs that may be active at once, in all queues together. Exact. */
  concurrency: number | null;
}

export const NO_LIMITS: TenantLimits = { waiting: null, enqueueRate: null, concurrency: null };

export const TENANT_LIMIT_NAMES = Object.keys(NO_LIMITS) as readonly (keyof TenantLimits)[];

const MOST_CONCURRENT = 1_000_000;
const MOST_WAITING = 1_000_000_000;
const SHORTEST_MS = 100;
const LONGEST_MS = 366 * 86_400_000;

/** What a call changes: an absent limit stays as it is, null takes it away. */
export function checkTenantLimits(given: unknown): Partial<TenantLimits> {
  const fields = new Fields(given, 'limits');
  fields.refuseUnknown(TENANT_LIMIT_NAMES);
  if (TENANT_LIMIT_NAMES.every((name) => !fields.has(name) && !fields.isNull(name)))
    throw invalidField('limits', `must have at least one of ${TENANT_LIMIT_NAMES.join(', ')}.`);
  return {
    ...read(fields, 'waiting', () => fields.integer('waiting', { min: 1, max: MOST_WAITING })),
    ...read(fields, 'enqueueRate', () => rateIn(fields)),
    ...read(fields, 'concurrency', () => fields.integer('concurrency', { min: 1, max: MOST_CONCURRENT })),
  };
}

function read<Name extends keyof TenantLimits>(
  fields: Fields,
  name: Name,
  value: () => TenantLimits[Name] | undefined,
): Partial<TenantLimits> {
  if (fields.isNull(name)) return { [name]: null };
  const found = value();
  return found === undefined ? {} : { [name]: found };
}

function rateIn(fields: Fields): TenantLimits['enqueueRate'] | undefined {
  const rate = fields.fields('enqueueRate');
  if (rate === undefined) return undefined;
  rate.refuseUnknown(['limit', 'periodMs']);
  const limit = rate.integer('limit', { min: 1, max: MOST_WAITING });
  const periodMs = rate.integer('periodMs', { min: SHORTEST_MS, max: LONGEST_MS });
  if (limit === undefined) throw invalidField(rate.name('limit'), 'is required.');
  if (periodMs === undefined) throw invalidField(rate.name('periodMs'), 'is required.');
  return { limit, periodMs };
}

/** Before the name, because an id of a record is never empty and the name of a tenant may be. */
const SIGN = '=';

/** Where a kind of record that each tenant has one of is kept: with the system, so that no tenant can reach it. */
export const recordsByTenant = (kind: string) => ({
  all: { tenant: SYSTEM_TENANT, kind },
  keyOf: (tenant: string) => ({ tenant: SYSTEM_TENANT, kind, id: `${SIGN}${tenant}` }),
  tenantOf: (id: string) => id.slice(SIGN.length),
});

export const LIMIT_RECORDS = recordsByTenant('tenant-limits');

export const limitsToRecord = ({ waiting, enqueueRate, concurrency }: TenantLimits): JsonObject => ({
  ...{ waiting, concurrency, enqueueRate: enqueueRate && { ...enqueueRate } },
});

/** Null: what stands there is no limits, and must not stop anybody. */
export function limitsFromRecord(value: JsonObject): TenantLimits | null {
  try {
    return { ...NO_LIMITS, ...checkTenantLimits(value) };
  } catch {
    return null;
  }
}
