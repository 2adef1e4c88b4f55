import { tenantFromPath, tenantStatsToWire, tenantToPath } from '@waybill/client';
import { JOB_STATES } from '@waybill/core';
import { command } from '../command.ts';
import { away } from '../spans.ts';
import { pairs } from '../table.ts';
import { rateText } from './tenants-list.ts';

export const tenantsShow = command({
  name: 'tenants show',
  section: 'Care',
  summary: 'show what a tenant has and what it may have',
  args: 'NAME',
  notes: 'The tenant without a name is ~default. Counting stops at 10,000 for each state.',
  takesTenant: false,
  run: async ({ args: [name = ''] }, context) => {
    const { tenants } = await context.connect();
    const stats = await tenants.stats(tenantFromPath(name));
    const { limits, jobs } = stats;
    const text = () =>
      pairs(
        [
          ['tenant', tenantToPath(stats.tenant)],
          ['queues', String(stats.queues)],
          ['waiting', ofLimit(stats.waiting, limits.waiting)],
          ['oldest', stats.oldestAt === null ? undefined : away(stats.oldestAt, context.io.now())],
          ['running', ofLimit(stats.active, limits.concurrency)],
          ['enqueues', limits.enqueueRate ? `at most ${rateText(limits.enqueueRate)}` : undefined],
          ['counted', stats.exact ? undefined : 'up to a bound; there may be more'],
          ...JOB_STATES.map((state) => [state, String(jobs[state])] as const),
        ],
        context,
      );
    context.show({ tenant: tenantStatsToWire(stats) }, text);
    return 0;
  },
});

const ofLimit = (count: number, limit: number | null): string =>
  limit === null ? String(count) : `${count} of ${limit}`;
