import { randomBytes } from 'node:crypto';
import { systemClock } from '@waybill/core';
import { loadDriver } from '../driver.ts';
import { faultOf } from '../failures.ts';
import { listenConfig } from '../options.ts';
import type { Check, Patient } from './check.ts';

const name = 'listen';

/** Listens as a worker would and notifies from another connection: a transaction pooler lets it get lost. */
export async function checkListen({ link, options, limits }: Patient): Promise<Check> {
  if (options.listen === false) return { name, status: 'ok', message: 'turned off: jobs are found by polling' };
  const driver = await loadDriver();
  const client = new driver.Client(listenConfig(options));
  client.on('error', () => {});
  const isHeard = new Promise<boolean>((resolve) => client.on('notification', () => resolve(true)));
  const patience = new AbortController();
  try {
    await client.connect();
    const channel = `waybill_doctor_${randomBytes(4).toString('hex')}`;
    await client.query(`listen ${channel}`);
    const before = performance.now();
    await link.query('select pg_notify($1, null)', [channel]);
    const isTooLate = systemClock.sleep(limits.notifyMs, patience.signal).then(() => false);
    if (await Promise.race([isHeard, isTooLate])) {
      const message = `a notification took ${Math.ceil(performance.now() - before)} ms`;
      return { name, status: 'ok', message };
    }
    const message = 'notifications do not arrive, so jobs are found by polling only';
    const hint = 'A pooler in transaction mode forgets who listens: give `listenUrl` an address that leads past it.';
    return { name, status: 'warn', message, hint };
  } catch (error) {
    const { message, hint } = faultOf(error);
    return { name, status: 'warn', message: `not possible: ${message}`, ...(hint === undefined ? {} : { hint }) };
  } finally {
    patience.abort();
    await client.end().catch(() => {});
  }
}
