import { tenantToPath, tenantToWire } from '@waybill/client';
import type { TenantInfo, TenantLimits } from '@waybill/core';
import { command } from '../command.ts';
import { moreLine, pagination } from '../job-table.ts';
import { PAGE_OPTIONS, readPage } from '../page-options.ts';
import { span } from '../spans.ts';
import { type Column, table } from '../table.ts';

export const tenantsList = command({
  name: 'tenants list',
  section: 'Care',
  summary: 'list the tenants with their limits',
  options: PAGE_OPTIONS,
  takesTenant: false,
  run: async ({ values }, context) => {
    const page = readPage(values);
    const { tenants } = await context.connect();
    const { items, cursor } = await tenants.list(page);
    const columns: Column<TenantInfo>[] = [
      { title: 'TENANT', of: ({ tenant }) => tenantToPath(tenant), least: 10 },
      { title: 'CONCURRENCY', short: 'CONC', of: ({ limits }) => String(limits.concurrency ?? '-'), align: 'right' },
      { title: 'WAITING', of: ({ limits }) => String(limits.waiting ?? '-'), align: 'right' },
      { title: 'ENQUEUE RATE', short: 'RATE', of: ({ limits }) => rateText(limits.enqueueRate) ?? '-' },
    ];
    const document = { tenants: items.map(tenantToWire), pagination: pagination(page.limit, cursor) };
    const text = () => (items.length === 0 ? 'No tenants.\n' : table(items, columns, context));
    context.show(document, () => text() + moreLine(cursor, context));
    return 0;
  },
});

/** As `tenants limit` takes it. */
export function rateText(rate: TenantLimits['enqueueRate']): string | undefined {
  if (rate === null) return undefined;
  const period = span(rate.periodMs).replace(/^1(?=[a-z]+$)/, '');
  return `${rate.limit}/${period}`;
}
