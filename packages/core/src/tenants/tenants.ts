import { randomUUID } from 'node:crypto';
import { checkTenant } from '../access/tenant.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { JOB_STATES, type JobState } from '../job/job.ts';
import { pageOf } from '../read-query.ts';
import { RivalLease } from '../store/rival-lease.ts';
import type { Store } from '../store/store.ts';
import type { TenantInfo, Tenants } from '../waybill.ts';
import { type LimitBook, readLimits } from './limit-book.ts';
import {
  checkTenantLimits,
  LIMIT_RECORDS,
  limitsFromRecord,
  limitsToRecord,
  NO_LIMITS,
  type TenantLimits,
} from './tenant-limits.ts';
import { WAITING_STATES } from './waiting-use.ts';

const COUNT_AT_MOST = 10_000;
/** Queues that are asked for their first job; a tenant with more is answered by these. */
const MOST_QUEUES_ASKED = 100;
const LOCKED_MS = 30_000;
const MOST_TRIES = 10;

interface Parts {
  store: Store;
  book: LimitBook;
}

/** Tenants as wholes: who there is, what they have, and what they may have. */
export function tenants({ store, book }: Parts): Tenants {
  const { records, queues } = store;
  /** Of the locks that others were seen to hold. */
  const rivals = new Map<string, RivalLease>();

  const recordOf = async (tenant: string) => {
    const [record] = await records.get([LIMIT_RECORDS.keyOf(tenant)]);
    const limits = record && limitsFromRecord(record.value);
    return { version: record?.version ?? 0, limits: limits ?? NO_LIMITS };
  };

  const mustFind = async (tenant: string): Promise<{ limits: TenantLimits; names: string[] }> => {
    const [{ limits, version }, known] = await Promise.all([recordOf(checkTenant(tenant)), queues.list(tenant)]);
    if (version === 0 && known.length === 0) throw tenantNotFound(tenant);
    return { limits, names: known.map(({ name }) => name) };
  };

  /** When the job that is next in line became available, in whichever queue that is the longest ago. */
  async function oldestIn(tenant: string, names: readonly string[]): Promise<number | null> {
    const moments: number[] = [];
    for (const name of names.slice(0, MOST_QUEUES_ASKED)) {
      const stats = await queues.stats(tenant, name, { atMost: 1 });
      if (stats?.oldestAt != null) moments.push(stats.oldestAt);
    }
    return moments.length === 0 ? null : Math.min(...moments);
  }

  /** False: another call was faster. Limits that limit nothing leave no record behind. */
  async function keep(tenant: string, limits: TenantLimits, expected: number): Promise<boolean> {
    const key = LIMIT_RECORDS.keyOf(tenant);
    if (Object.values(limits).some((limit) => limit !== null)) {
      const [answer] = await records.put([{ ...key, value: limitsToRecord(limits), expected }]);
      return answer!.status === 'stored';
    }
    return expected === 0 || (await records.remove(key, expected)).status !== 'conflict';
  }

  async function write(tenant: string, patch: Partial<TenantLimits>): Promise<TenantLimits> {
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const { version, limits } = await recordOf(tenant);
      const after = { ...limits, ...patch };
      // First, because a limit that is shown must hold.
      if (patch.concurrency !== undefined) await queues.setTenantLimit(tenant, patch.concurrency);
      if (await keep(tenant, after, version)) return after;
    }
    throw new WaybillError('unavailable', 'Others keep changing the limits of this tenant. Try again.');
  }

  return {
    list: async (query = {}) => {
      const { limit, cursor } = pageOf(query);
      const after = cursor === undefined ? null : nameIn(cursor);
      const limited = await readLimits(records);
      const used = await queues.tenants({ after, limit: limit + 1 });
      const others = [...limited.keys()].filter((name) => after === null || name > after);
      const names = [...new Set([...used, ...others])].sort();
      const items = names.slice(0, limit).map((name): TenantInfo => infoOf(name, limited.get(name) ?? NO_LIMITS));
      return names.length > limit ? { items, cursor: cursorOf(items.at(-1)!.tenant) } : { items };
    },
    get: async (tenant) => infoOf(tenant, (await mustFind(tenant)).limits),
    stats: async (tenant) => {
      const { limits, names } = await mustFind(tenant);
      const counts = await Promise.all(
        JOB_STATES.map((state) => store.count({ tenant, states: [state] }, { atMost: COUNT_AT_MOST })),
      );
      const jobs = Object.fromEntries(JOB_STATES.map((state, index) => [state, counts[index]!]));
      return {
        ...infoOf(tenant, limits),
        jobs: jobs as Record<JobState, number>,
        exact: counts.every((count) => count < COUNT_AT_MOST),
        queues: names.length,
        active: jobs['active']!,
        waiting: WAITING_STATES.reduce((sum, state) => sum + jobs[state]!, 0),
        oldestAt: await oldestIn(tenant, names),
      };
    },
    setLimits: async (tenant, limits) => {
      checkTenant(tenant);
      const patch = checkTenantLimits(limits);
      const lock = { name: `tenant-limits ${tenant}`, owner: randomUUID() };
      const rival = rivals.get(tenant) ?? new RivalLease(LOCKED_MS);
      const held = await rival.take(store.locks, lock, store.clock);
      if (held.status === 'taken') {
        rivals.set(tenant, rival);
        throw new WaybillError('conflict', 'Somebody else is changing the limits of this tenant.', {
          hint: 'Look at the limits, and repeat the call if it is still needed.',
        });
      }
      rivals.delete(tenant);
      try {
        const after = await write(tenant, patch);
        book.note(tenant, after);
        return infoOf(tenant, after);
      } finally {
        // What is not given back is free when its lease ends.
        await store.locks.release({ ...lock, fence: held.fence }).catch(() => false);
      }
    },
  };
}

const infoOf = (tenant: string, limits: TenantLimits): TenantInfo => ({ tenant, limits });

/** The same for a tenant of somebody else: nobody learns by it who there is. */
export const tenantNotFound = (tenant: string): WaybillError =>
  new WaybillError('not_found', `There is no tenant '${tenant}' with jobs, queues or limits.`, { details: { tenant } });

const cursorOf = (tenant: string): string => Buffer.from(`=${tenant}`).toString('base64url');

function nameIn(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (text.startsWith('=') && cursorOf(text.slice(1)) === cursor) return text.slice(1);
  throw invalidField('cursor', 'must be text that an earlier page has answered.');
}
