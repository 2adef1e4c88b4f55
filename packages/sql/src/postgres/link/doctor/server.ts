import { DEFAULTS } from '../options.ts';
import type { Check, Patient } from './check.ts';

const OLDEST_VERSION = 14;
/** PostgreSQL's default. */
const ISOLATION = 'read committed';

export async function checkVersion({ link }: Patient): Promise<Check> {
  const before = performance.now();
  const [row] = await link.query<[string, number]>(
    "select current_setting('server_version'), current_setting('server_version_num')::int / 10000",
  );
  const [version, major] = row!;
  const message = `PostgreSQL ${version}, answered in ${Math.ceil(performance.now() - before)} ms`;
  if (major >= OLDEST_VERSION) return { name: 'server', status: 'ok', message };
  return { name: 'server', status: 'fail', message, hint: `Waybill needs PostgreSQL ${OLDEST_VERSION} or newer.` };
}

export async function checkWritable({ link }: Patient): Promise<Check> {
  const name = 'writes';
  const [row] = await link.query<[boolean, boolean, string]>(
    `select pg_is_in_recovery(), current_setting('transaction_read_only')::bool,
       current_setting('transaction_isolation')`,
  );
  const [isStandby, isReadOnly, isolation] = row!;
  if (isStandby) {
    return { name, status: 'fail', message: 'this is a standby', hint: 'Point the address at the primary.' };
  }
  const lookAt = (setting: string) => `Look at \`${setting}\` of the server, the database and the user.`;
  if (isReadOnly) {
    const hint = lookAt('default_transaction_read_only');
    return { name, status: 'fail', message: 'transactions are read-only', hint };
  }
  if (isolation === ISOLATION) return { name, status: 'ok', message: 'taken' };
  const hint = `Waybill counts on \`${ISOLATION}\`: whoever waits for a row must see what became of it. ${lookAt('default_transaction_isolation')}`;
  return { name, status: 'warn', message: `transactions are \`${isolation}\``, hint };
}

export async function checkConnections({ link, options }: Patient): Promise<Check> {
  const name = 'connections';
  const [row] = await link.query<[number, number]>(
    `select (select count(*) from pg_stat_activity where backend_type = 'client backend'),
       current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int`,
  );
  const [used, most] = row!;
  const needed = (options.poolSize ?? DEFAULTS.poolSize) + 1;
  const message = `${used} of ${most} in use`;
  if (most - used >= needed) return { name, status: 'ok', message };
  const hint = `One process of Waybill uses up to ${needed}: raise \`max_connections\`, lower \`poolSize\`, or use a pooler.`;
  return { name, status: 'warn', message, hint };
}

export async function checkClock({ link, limits }: Patient): Promise<Check> {
  const name = 'clock';
  const apart = Math.abs(link.clock.now() - Date.now());
  if (apart <= limits.skewMs) return { name, status: 'ok', message: 'as the server has it' };
  const message = `${(apart / 1000).toFixed(1)} s apart from the server`;
  return { name, status: 'warn', message, hint: 'Jobs follow the clock of the server. Let NTP set both.' };
}
