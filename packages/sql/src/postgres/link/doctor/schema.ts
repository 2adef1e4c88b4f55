import { errorOf } from '../failures.ts';
import { pendingMigration, schemaVersion } from '../migrate.ts';
import { readMigrations } from '../migration-files.ts';
import type { Check, Patient } from './check.ts';

export async function checkSchema({ link }: Patient): Promise<Check> {
  const name = 'schema';
  try {
    const version = await schemaVersion(link);
    const next = await pendingMigration(link, link, readMigrations());
    if (next === undefined) return { name, status: 'ok', message: `${link.schema}, version ${version}` };
    const message = version === 0 ? `${link.schema} is empty` : `${link.schema} is old: ${next.name} has not run`;
    return { name, status: 'warn', message, hint: 'Run `waybill migrate`.' };
  } catch (error) {
    const { message, hint } = errorOf(error);
    return { name, status: 'fail', message, ...(hint === undefined ? {} : { hint }) };
  }
}

/** What Waybill does with each kind of thing in its schema, and by what function PostgreSQL tells whether it may. */
const MISSING = `
  select privilege, array_agg(name order by name) from (
    select privilege, relname::text as name
    from pg_class, unnest(array['select', 'insert', 'update', 'delete']) privilege
    where relnamespace = to_regnamespace($1) and relkind in ('r', 'p') and not relispartition
      and not has_table_privilege(oid, privilege)
    union all
    select 'usage', relname from pg_class
    -- In another order PostgreSQL might ask this of a table, which is an error.
    where relnamespace = to_regnamespace($1) and case when relkind = 'S' then not has_sequence_privilege(oid, 'usage') end
    union all
    select 'execute', proname from pg_proc
    where pronamespace = to_regnamespace($1) and not has_function_privilege(oid, 'execute')
  ) missing
  group by privilege order by privilege`;

export async function checkPrivileges({ link }: Patient): Promise<Check> {
  const name = 'privileges';
  const schema = link.sql('{schema}');
  const [row] = await link.query<[string, boolean, boolean, boolean]>(
    `select current_user, to_regnamespace($1) is not null, has_database_privilege(current_database(), 'create'),
       coalesce(has_schema_privilege(to_regnamespace($1)::oid, 'usage'), false)`,
    [schema],
  );
  const [user, exists, mayCreate, mayUse] = row!;
  const grant = (what: string) => `As its owner: grant ${what} to "${user}";`;
  if (!exists) {
    if (mayCreate) return { name, status: 'ok', message: `${user} may make the schema` };
    const hint = `As an administrator: create schema ${schema} authorization "${user}";`;
    return { name, status: 'fail', message: `${user} may not make the schema`, hint };
  }
  if (!mayUse) {
    return {
      name,
      status: 'fail',
      message: `${user} lacks usage of the schema`,
      hint: grant(`usage on schema ${schema}`),
    };
  }
  const missing = await link.query<[string, string[]]>(MISSING, [schema]);
  if (missing.length > 0) {
    const message = missing.map(([privilege, names]) => `${privilege} on ${names.join(', ')}`).join('; ');
    const hint = grant('these');
    return { name, status: 'fail', message: `${user} lacks ${message}`, hint };
  }
  const [owner] = await link.query<[boolean]>(
    `select coalesce(bool_and(pg_has_role(relowner, 'usage')), true) and has_schema_privilege(to_regnamespace($1)::oid, 'create')
     from pg_class where relnamespace = to_regnamespace($1) and relkind in ('r', 'p')`,
    [schema],
  );
  if (owner![0]) return { name, status: 'ok', message: `${user} has all that is needed` };
  const message = `${user} does not own the tables, so it can neither migrate nor add partitions`;
  return { name, status: 'warn', message, hint: 'Let one process run as the owner: `waybill serve` does the upkeep.' };
}
