import { tenantFromPath, tenantToPath, tenantToWire } from '@waybill/client';
import type { TenantLimits } from '@waybill/core';
import { command, misuse } from '../command.ts';
import { readInteger, readSpan } from '../read-value.ts';
import { rateText } from './tenants-list.ts';

const NONE = 'none';

export const tenantsLimit = command({
  name: 'tenants limit',
  section: 'Care',
  summary: 'set what a tenant may have; for operators',
  args: 'NAME',
  options: {
    concurrency: { value: 'N', about: 'jobs that run at once, in all queues together' },
    waiting: { value: 'N', about: 'jobs that wait: available, scheduled, retryable, pending' },
    'enqueue-rate': { value: 'N/TIME', about: 'jobs enqueued in a period: 100/s, 5000/m, 10/30s' },
  },
  notes: 'A limit that is not named stays as it is; none takes it away. The tenant without a name is ~default.',
  takesTenant: false,
  run: async ({ args: [name = ''], values }, context) => {
    const { concurrency, waiting, 'enqueue-rate': rate } = values;
    const limits: Partial<TenantLimits> = {
      ...(concurrency !== undefined && { concurrency: countIn('--concurrency', concurrency) }),
      ...(waiting !== undefined && { waiting: countIn('--waiting', waiting) }),
      ...(rate !== undefined && { enqueueRate: rate === NONE ? null : rateIn(rate) }),
    };
    if (Object.keys(limits).length === 0)
      throw misuse('Say which limit to set: --concurrency, --waiting or --enqueue-rate.');
    const { tenants } = await context.connect();
    const info = await tenants.setLimits(tenantFromPath(name), limits);
    context.show({ tenant: tenantToWire(info) }, () => `${tenantToPath(info.tenant)} ${textOf(info.limits)}\n`);
    return 0;
  },
});

const countIn = (name: string, text: string): number | null => (text === NONE ? null : readInteger(name, text));

function rateIn(text: string): NonNullable<TenantLimits['enqueueRate']> {
  const [, count, period] = /^(\d{1,10})\/(\S+)$/.exec(text) ?? [];
  if (count === undefined || period === undefined)
    throw misuse(`--enqueue-rate must be a number and a time, like 100/s or 10/30s, or none; not '${text}'.`);
  // A unit alone is one of it.
  return { limit: Number(count), periodMs: readSpan('--enqueue-rate', /^[a-z]/.test(period) ? `1${period}` : period) };
}

function textOf({ concurrency, waiting, enqueueRate }: TenantLimits): string {
  const parts = [
    concurrency !== null && `runs at most ${concurrency}`,
    waiting !== null && `has at most ${waiting} waiting`,
    enqueueRate !== null && `enqueues at most ${rateText(enqueueRate)}`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'has no limits' : parts.join(', ');
}
