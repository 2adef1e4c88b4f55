import type { MaintenanceHealth } from '@waybill/core';
import type { Context } from '../context.ts';
import { refusalOf } from '../report.ts';
import { type Check, isMissing } from './check.ts';

const name = 'maintenance';

/** What servers could not deal with and have put off. */
export function maintenanceCheck({ status, failing, items, reason }: MaintenanceHealth): Check {
  if (status === 'ok') return { name, status, message: 'nothing was put off' };
  const [first] = items;
  if (!first) return { name, status: 'warn', message: reason ?? 'it fails' };
  const message = `${failing} put off, first ${first.kind} ${first.id}: ${first.reason}`;
  return { name, status: 'warn', message, hint: 'Repair or cancel it; the server tries again by itself.' };
}

/** What the servers on a store have noted there. Without any, there is nothing to say. */
export async function checkPutOff(context: Context, store: readonly Check[]): Promise<Check[]> {
  if (store.some(isMissing)) return [];
  try {
    const waybill = await context.connect({ transport: 'poll' });
    const { maintenance } = await waybill.health();
    return maintenance ? [maintenanceCheck(maintenance)] : [];
  } catch (error) {
    return [{ name, status: 'warn', message: `it cannot be looked at: ${refusalOf(error).message}` }];
  }
}
