import { LIMIT_RECORDS, limitsFromRecord } from '../tenants/tenant-limits.ts';
import { relatedJob } from './explanation.ts';
import { rateText, ruleDetails } from './queue.ts';
import { COUNTED_AT_MOST, type Family, MOST_NAMED, someJobs } from './situation.ts';

/** No index has the holders of a limit: they are looked for among so many pages of jobs. */
const PAGES = 5;

/** The job has no slot of the limit that it obeys. */
export const limit: Family = {
  what: 'Its limit',
  of: async ({ job, store }) => {
    const { tenant, limitKey: key } = job;
    if (job.state !== 'available' || key === null || job.holdsSlot) return [];
    const info = await store.limits.get(tenant, key);
    if (info === null || info.rule === null) return [];
    const { rule, holders, parked } = info;
    const isFull = rule.concurrency !== null && holders >= rule.concurrency;
    const held = await someJobs(
      store,
      { tenant, states: ['active', 'available'] },
      { wanted: MOST_NAMED, pages: PAGES, test: (one) => one.limitKey === key && one.holdsSlot },
    );
    const why = isFull
      ? `${holders} of ${rule.concurrency} slots are held`
      : rule.rate
        ? rateText(rule.rate)
        : 'it is full';
    return [
      {
        code: 'limit',
        message: `It waits for a slot of the limit '${key}': ${why}, and ${parked} ${parked === 1 ? 'job waits' : 'jobs wait'}.`,
        hint: `To change the limit: PUT /ojs/v1/rate-limits/${key}`,
        details: { key, holders, parked, ...ruleDetails(rule) },
        ...(held.length > 0 && { jobs: held.map(relatedJob) }),
      },
    ];
  },
};

/** The tenant has as many jobs under way as an operator allows it. */
export const tenantLimit: Family = {
  what: 'The limit of its tenant',
  of: async ({ job: { tenant, rank }, store }) => {
    if (rank === null) return [];
    const [record] = await store.records.get([LIMIT_RECORDS.keyOf(tenant)]);
    const concurrency = record ? (limitsFromRecord(record.value)?.concurrency ?? null) : null;
    if (concurrency === null) return [];
    const filter = { tenant, states: ['active'] } as const;
    const active = await store.count(filter, { atMost: Math.min(concurrency, COUNTED_AT_MOST) });
    if (active < concurrency) return [];
    const holders = await someJobs(store, filter, { wanted: MOST_NAMED });
    return [
      {
        code: 'tenant_limit',
        message: `Its tenant may run ${concurrency} ${concurrency === 1 ? 'job' : 'jobs'} at once, in all queues together, and does.`,
        hint: `An operator may raise it: waybill tenants limit ${tenant === '' ? '~default' : tenant} --concurrency N`,
        details: { concurrency, active },
        jobs: holders.map(relatedJob),
      },
    ];
  },
};
