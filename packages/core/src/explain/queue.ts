import { formatDuration } from '../duration.ts';
import { isFinished } from '../job/job.ts';
import type { LimitRule } from '../limits/limit.ts';
import { type Reason, relatedJob } from './explanation.ts';
import { type Family, MOST_NAMED, type Situation, someJobs, timeOf } from './situation.ts';

/** Its queue is paused, or has as many jobs under way as it may. */
export const queue: Family = {
  what: 'Its queue',
  of: async (situation) => {
    const { job } = situation;
    if (isFinished(job.state) || job.state === 'active') return [];
    const stats = await situation.queue();
    if (stats === null) return [];
    const paused: Reason = {
      code: 'queue_paused',
      message: `Its queue '${job.queue}' is paused: it takes jobs and gives none.`,
      hint: `waybill queues resume ${job.queue}`,
      details: { queue: job.queue },
    };
    return [...(stats.paused ? [paused] : []), ...(await full(situation, stats.limit, stats.active))];
  },
};

async function full({ job, now, store }: Situation, limit: LimitRule | null, active: number): Promise<Reason[]> {
  if (limit === null || job.rank === null) return [];
  const { tenant, queue } = job;
  const opensAt = limit.rate === null ? null : ((await store.opensAt?.({ tenant, queues: [queue], now })) ?? null);
  const isFull = limit.concurrency !== null && active >= limit.concurrency;
  if (!isFull && (opensAt === null || opensAt <= now)) return [];
  const holders = isFull
    ? await someJobs(store, { tenant, queues: [queue], states: ['active'] }, { wanted: MOST_NAMED })
    : [];
  const what = isFull
    ? `The limit of its queue '${queue}' is reached: ${active} of ${limit.concurrency} jobs are active.`
    : `The limit of its queue '${queue}' is reached: ${rateText(limit.rate!)}. The next job starts at ${timeOf(opensAt!)} at the earliest.`;
  return [
    {
      code: 'queue_limit',
      message: what,
      hint: `To see the limit: waybill queues show ${queue}`,
      details: { queue, active, ...ruleDetails(limit), ...(!isFull && { until: timeOf(opensAt!) }) },
      ...(holders.length > 0 && { jobs: holders.map(relatedJob) }),
    },
  ];
}

export const rateText = ({ limit, periodMs }: NonNullable<LimitRule['rate']>): string =>
  `${limit} ${limit === 1 ? 'job starts' : 'jobs start'} per ${formatDuration(periodMs)}`;

export const ruleDetails = ({ concurrency, rate }: LimitRule) => ({
  ...(concurrency !== null && { concurrency }),
  ...(rate !== null && { rate: { limit: rate.limit, period_ms: rate.periodMs } }),
});
