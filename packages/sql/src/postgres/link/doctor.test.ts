import { TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { firstIdAt } from '../partitions.ts';
import { startPooler } from '../testing/pooler.ts';
import { execute, postgresUrl, tempClient, tempSchema } from '../testing/server.ts';
import { examinePostgres } from './doctor.ts';
import { readMigrations } from './migration-files.ts';
import { openLink } from './open-link.ts';
import type { PostgresOptions } from './options.ts';

/** A schema with all its tables. */
async function migrated(): Promise<{ url: string; schema: string }> {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  await (await openLink({ url, schema })).close();
  return { url, schema };
}

async function examine(options: PostgresOptions, limits: Parameters<typeof examinePostgres>[1] = {}) {
  const checks = await examinePostgres(options, limits);
  return Object.fromEntries(checks.map((check) => [check.name, check]));
}

test('a healthy store', async () => {
  const checks = await examinePostgres(await migrated());
  // Tests of other files may leave a transaction open for long, or hold many connections.
  const ours = checks.filter(({ name }) => name !== 'transactions' && name !== 'connections');
  expect(ours.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(checks.map(({ name }) => name)).toEqual([
    'server',
    'writes',
    'connections',
    'schema',
    'privileges',
    'bloat',
    'days',
    'transactions',
    'clock',
    'listen',
  ]);
});

test('a server that cannot be reached', async () => {
  const url = 'postgres://somebody:secret@127.0.0.1:1/nowhere';
  expect(await examinePostgres({ url })).toEqual([
    {
      name: 'server',
      status: 'fail',
      message: 'PostgreSQL cannot be reached. (127.0.0.1:1/nowhere)',
      hint: expect.any(String),
    },
  ]);
});

test('looking changes nothing: a schema that is not there stays so', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const { schema: found } = await examine({ url, schema });
  expect(found).toMatchObject({ status: 'warn', message: `${schema} is empty`, hint: /migrate/ });
  expect(await execute(url, 'select to_regnamespace($1) is null', [schema])).toEqual([[true]]);
});

test('a schema that is old, and one that is too new', async () => {
  const { url, schema } = await migrated();
  const newest = readMigrations().at(-1)!;
  await execute(url, `insert into ${schema}.migrations (number, name, checksum) values (9999, 'x', 'x')`);
  expect((await examine({ url, schema })).schema).toMatchObject({ status: 'fail', message: /newer version/ });
  await execute(url, `delete from ${schema}.migrations where number >= $1`, [newest.number]);
  expect((await examine({ url, schema })).schema).toMatchObject({ status: 'warn', hint: 'Run `waybill migrate`.' });
});

test('missing privileges are named', async () => {
  const { url, schema } = await migrated();
  const role = `${schema}_user`;
  await execute(url, `create role ${role} login password 'own'`);
  onTestFinished(async () => {
    await execute(url, `drop owned by ${role} cascade`);
    await execute(url, `drop role ${role}`);
  });
  const theirs = new URL(url);
  theirs.username = role;
  theirs.password = 'own';
  const privileges = async () => (await examine({ url: theirs.href, schema })).privileges;

  expect(await privileges()).toMatchObject({ status: 'fail', message: `${role} lacks usage of the schema` });
  await execute(url, `grant usage on schema ${schema} to ${role}`);
  await execute(url, `grant all on all tables in schema ${schema} to ${role}`);
  await execute(url, `grant all on all sequences in schema ${schema} to ${role}`);
  await execute(url, `revoke delete on ${schema}.migrations from ${role}`);
  expect(await privileges()).toMatchObject({ status: 'fail', message: `${role} lacks delete on migrations` });
  await execute(url, `grant delete on ${schema}.migrations to ${role}`);
  expect(await privileges()).toMatchObject({ status: 'warn', message: /does not own/ });
});

test('a transaction that has been open for long, and dead rows', async () => {
  const { url, schema } = await migrated();
  const other = await tempClient(url);
  await other.query("set application_name = 'forgotten'");
  await other.query(`begin isolation level repeatable read; select 1 from ${schema}.migrations`);
  const { transactions, bloat } = await examine({ url, schema }, { transactionMs: 0, deadRows: 0 });
  expect(transactions).toMatchObject({ status: 'warn', message: /is open for/, hint: /pg_terminate_backend/ });
  expect(bloat).toMatchObject({ status: 'warn', message: /most of them in/ });
});

test('B7: days without a partition, and jobs of days to come', async () => {
  const { url, schema } = await migrated();
  const day = (from: string, to: string) =>
    execute(
      url,
      `create table ${schema}.job_ends_${from} partition of ${schema}.job_ends
      for values from ('${firstIdAt(Date.parse(to))}') to ('${firstIdAt(Date.parse(to) + 1)}')`,
    );
  await day('20200101', '2020-01-01');
  expect((await examine({ url, schema })).days).toMatchObject({ status: 'warn', message: /today has none/ });
  await execute(url, `drop table ${schema}.job_ends_20200101`);
  await execute(
    url,
    `insert into ${schema}.job_bodies (tenant, id, created_at, max_attempts, priority, type, queue, spec)
      values ('', '${firstIdAt(Date.now() + 30 * 86_400_000)}', 0, 1, 0, 't', 'q', '{}')`,
  );
  expect((await examine({ url, schema })).days).toMatchObject({
    status: 'warn',
    message: /1 of them of today or later/,
  });
});

test('clocks that are apart', async () => {
  const { url, schema } = await migrated();
  const { clock } = await examine({ url, schema, clock: new TestClock() });
  expect(clock).toMatchObject({ status: 'warn', message: /s apart from the server/ });
});

test('a pooler that forgets who listens', async () => {
  const { url, schema } = await migrated();
  const pooler = await startPooler(url, 2);
  const behind = { url: pooler.url, schema };
  const { listen } = await examine(behind, { notifyMs: 300 });
  expect(listen).toMatchObject({ status: 'warn', hint: /listenUrl/ });
  expect((await examine({ ...behind, listenUrl: url })).listen).toMatchObject({ status: 'ok' });
});

test('transactions that do not see what happens beside them', async () => {
  const { url, schema } = await migrated();
  const config = { options: '-c default_transaction_isolation=serializable' };
  const { writes } = await examine({ url, schema, config });
  expect(writes).toMatchObject({ status: 'warn', message: /serializable/, hint: /default_transaction_isolation/ });
});

test('a server that takes no writes, and one that is nearly full', async () => {
  const { url, schema } = await migrated();
  const config = { options: '-c default_transaction_read_only=on' };
  const { writes, connections } = await examine({ url, schema, config, poolSize: 10_000 });
  expect(writes).toMatchObject({ status: 'fail', message: 'transactions are read-only' });
  expect(connections).toMatchObject({ status: 'warn', hint: /10001/ });
});
