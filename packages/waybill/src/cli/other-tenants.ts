import type { Waybill } from '@waybill/core';
import type { Context } from './context.ts';

/**
 * Says that a list is that of one tenant, to a caller who sees all of them and has named none: an empty list would else look like an
 * empty store.
 */
export async function tellOfOtherTenants(waybill: Waybill, context: Context): Promise<void> {
  if (context.tenant !== undefined) return;
  const other = await firstOther(waybill);
  if (other === undefined) return;
  context.tell(
    `These are the jobs of the tenant without a name. There are other tenants, such as ${other}: choose one with --tenant, list them with \`waybill tenants list\`.`,
  );
}

async function firstOther({ tenants }: Waybill): Promise<string | undefined> {
  try {
    const { items } = await tenants.list({ limit: 2 });
    return items.find(({ tenant }) => tenant !== '')?.tenant;
  } catch {
    // The caller belongs to a tenant, and the list is about that one.
    return undefined;
  }
}
