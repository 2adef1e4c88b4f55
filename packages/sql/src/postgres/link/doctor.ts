import { silentLogger } from '@waybill/core';
import { type Check, LIMITS, type Patient } from './doctor/check.ts';
import { checkListen } from './doctor/listen.ts';
import { checkPrivileges, checkSchema } from './doctor/schema.ts';
import { checkClock, checkConnections, checkVersion, checkWritable } from './doctor/server.ts';
import { checkBloat, checkDays, checkTransactions } from './doctor/tables.ts';
import { errorOf } from './failures.ts';
import { schemaVersion } from './migrate.ts';
import { openLink } from './open-link.ts';
import type { PostgresOptions } from './options.ts';

export type { Check } from './doctor/check.ts';

const CHECKS: Readonly<Record<string, (patient: Patient) => Promise<Check>>> = {
  server: checkVersion,
  writes: checkWritable,
  connections: checkConnections,
  schema: checkSchema,
  privileges: checkPrivileges,
  bloat: checkBloat,
  days: checkDays,
  transactions: checkTransactions,
  clock: checkClock,
  listen: checkListen,
};

/** Looks for what could go wrong with a PostgreSQL store, from the ground up, and changes nothing. */
export async function examinePostgres(options: PostgresOptions, limits: Partial<typeof LIMITS> = {}): Promise<Check[]> {
  let patient: Patient;
  try {
    const link = await openLink({ logger: silentLogger, ...options, migrate: false, listen: false, patienceMs: 0 });
    patient = { link, options, limits: { ...LIMITS, ...limits } };
  } catch (error) {
    return [failed('server', 'fail', error)];
  }
  try {
    const checks: Check[] = [];
    for (const [name, check] of Object.entries(CHECKS)) {
      checks.push(await check(patient).catch((error: unknown) => failed(name, 'warn', error)));
    }
    return checks;
  } finally {
    await patient.link.close();
  }
}

/** The number of the last migration that ran; 0 where there is none. Changes nothing. */
export async function postgresSchemaVersion(options: PostgresOptions): Promise<number> {
  const link = await openLink({ ...options, migrate: false, listen: false });
  try {
    return await schemaVersion(link);
  } finally {
    await link.close();
  }
}

function failed(name: string, status: Check['status'], error: unknown): Check {
  const { message, hint } = errorOf(error);
  return { name, status, message, ...(hint === undefined ? {} : { hint }) };
}
