import { checkNodeVersion, type MaintenanceHealth } from '@waybill/core';
import { dynamoOptions, isDynamo } from '../../connect/dynamo-address.ts';
import { isPostgres, postgresOptions } from '../../connect/postgres-address.ts';
import type { Context } from '../context.ts';
import { refusalOf } from '../report.ts';
import { fileOf, isRemote } from '../store-address.ts';
import type { Check } from './check.ts';
import { checkClock, checkServerClock } from './clock.ts';
import { checkDurability, checkFile, checkSchema, checkSpace } from './file.ts';

export type { Check } from './check.ts';
export { checkTransport } from './transport.ts';

export function checkNode(version: string): Check {
  const message = `Node.js ${version}`;
  try {
    checkNodeVersion(version);
    return { name: 'node', status: 'ok', message };
  } catch (error) {
    return { name: 'node', status: 'fail', message, hint: (error as Error).message };
  }
}

/** Milliseconds from which an answer to a ping is worth a word. */
const SLOW_MS = 250;

/** From the ground up: without a file that can be written to, the store need not be asked. */
export async function checkStore(context: Context, transport: string): Promise<Check[]> {
  const { store } = context;
  if (isPostgres(store)) {
    const { examinePostgres } = await import('@waybill/sql/postgres');
    return examinePostgres(postgresOptions(store));
  }
  if (isDynamo(store)) {
    const { examineDynamo } = await import('@waybill/aws/dynamodb');
    return examineDynamo({ ...dynamoOptions(store), clock: context.clock }, { polls: transport === 'poll' });
  }
  const checks: Check[] = [];
  const file = fileOf(store);
  if (file !== null) {
    const found = checkFile(file);
    checks.push(found, await checkSpace(file));
    // Opening would make the file, and a look must not change anything.
    if (found.status !== 'ok') return [...checks, checkDurability(store)];
  }
  const reached = await checkReach(context);
  checks.push(...reached);
  if (reached.every(({ status }) => status !== 'fail')) {
    if (file !== null) checks.push(await checkSchema(store));
    checks.push(isRemote(store) ? await checkServerClock(context) : await checkClock(context));
  }
  return isRemote(store) ? checks : [...checks, checkDurability(store)];
}

async function checkReach(context: Context): Promise<Check[]> {
  const name = 'store';
  try {
    const waybill = await context.connect();
    const { store, transport, maintenance } = await waybill.health();
    const message = `${store.name} answers in ${store.latencyMs} ms`;
    const ill = [store, transport].find((pulse) => pulse?.status === 'unhealthy');
    if (ill) return [{ name, status: 'fail', message: `${ill.name} is ${ill.status}` }];
    const reached: Check = { name, status: store.latencyMs > SLOW_MS ? 'warn' : 'ok', message };
    return maintenance ? [reached, checkMaintenance(maintenance)] : [reached];
  } catch (error) {
    const { message, hint } = refusalOf(error);
    return [{ name, status: 'fail', message, ...(hint !== undefined && { hint }) }];
  }
}

/** What the server could not deal with and has put off. */
function checkMaintenance({ status, failing, items, reason }: MaintenanceHealth): Check {
  const name = 'maintenance';
  if (status === 'ok') return { name, status, message: 'nothing was put off' };
  const [first] = items;
  if (!first) return { name, status: 'warn', message: reason ?? 'it fails' };
  const message = `${failing} put off, first ${first.kind} ${first.id}: ${first.reason}`;
  return { name, status: 'warn', message, hint: 'Repair or cancel it; the server tries again by itself.' };
}
