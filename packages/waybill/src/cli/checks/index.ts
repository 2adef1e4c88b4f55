import { checkNodeVersion } from '@waybill/core';
import { type Address, fileOf, parseAddress, type SqliteAddress } from '../../connect/parse-address.ts';
import type { Context } from '../context.ts';
import { refusalOf } from '../report.ts';
import type { Check } from './check.ts';
import { checkClock, checkServerClock } from './clock.ts';
import { checkDurability, checkFile, checkSchema, checkSpace } from './file.ts';
import { checkPutOff, maintenanceCheck } from './maintenance.ts';

export type { Check } from './check.ts';
export { checkTasks } from './tasks.ts';
export { checkTransport } from './transport.ts';
export { checkWebhooks } from './webhooks.ts';

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

/** A mistyped address fails alone: nothing can be said about a store that it does not name. */
export async function checkStore(context: Context, transport: string): Promise<Check[]> {
  let address: Address;
  try {
    address = parseAddress(context.store);
  } catch (error) {
    return [failed('store', error)];
  }
  switch (address.kind) {
    case 'postgres': {
      const { examinePostgres } = await import('@waybill/sql/postgres');
      return withPutOff(context, await examinePostgres(address.options));
    }
    case 'dynamodb': {
      const { examineDynamo } = await import('@waybill/aws/dynamodb');
      const polls = transport === 'poll';
      return withPutOff(context, await examineDynamo({ ...address.options, clock: context.clock }, { polls }));
    }
    case 'remote': {
      const reached = await checkReach(context);
      // gRPC does not tell the time of a server.
      if (address.protocol === 'grpc') return reached;
      return isReached(reached) ? [...reached, await checkServerClock(context)] : reached;
    }
    case 'sqlite':
      return [...(await checkSqlite(context, address)), checkDurability(address)];
  }
}

const withPutOff = async (context: Context, checks: Check[]): Promise<Check[]> => [
  ...checks,
  ...(await checkPutOff(context, checks)),
];

/** From the ground up: without a file that can be written to, the store need not be asked. */
async function checkSqlite(context: Context, address: SqliteAddress): Promise<Check[]> {
  const checks: Check[] = [];
  const file = fileOf(address);
  if (file !== null) {
    const found = checkFile(file);
    checks.push(found, await checkSpace(file));
    // Opening would make the file, and a look must not change anything.
    if (found.status !== 'ok') return checks;
  }
  const reached = await checkReach(context);
  checks.push(...reached);
  if (!isReached(reached)) return checks;
  if (file !== null) checks.push(await checkSchema(address));
  return [...checks, await checkClock(context)];
}

const isReached = (checks: readonly Check[]): boolean => checks.every(({ status }) => status !== 'fail');

function failed(name: string, error: unknown): Check {
  const { message, hint } = refusalOf(error);
  return { name, status: 'fail', message, ...(hint !== undefined && { hint }) };
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
    return maintenance ? [reached, maintenanceCheck(maintenance)] : [reached];
  } catch (error) {
    return [failed(name, error)];
  }
}
