import { silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { LogBook } from '../testing/log-book.ts';
import { execute, postgresUrl, tempClient, tempLink, tempSchema } from '../testing/server.ts';
import { migrate, pendingMigration, schemaVersion } from './migrate.ts';
import { migration, readMigrations } from './migration-files.ts';
import { openLink } from './open-link.ts';

const FIRST = migration('0001_first.sql', 'create table {schema}.t (n int); select pg_sleep(0.1);');
const SECOND = migration('0002_second.sql', 'insert into {schema}.t values (2);');
const THIRD = migration('0003_third.sql', 'alter table {schema}.t add column m int;');

const bare = () => tempLink({ migrate: false });

test('the files are numbered without a gap', () => {
  const numbers = readMigrations().map(({ number }) => number);
  expect(numbers).toEqual(numbers.map((_, index) => index + 1));
});

test('line ends do not change a checksum, words do', () => {
  const { checksum } = migration('0001_a.sql', 'a;\nb;\n');
  expect(migration('0001_a.sql', 'a;\r\nb;\r\n').checksum).toBe(checksum);
  expect(migration('0001_a.sql', 'a;\nc;\n').checksum).not.toBe(checksum);
});

test('eight that start at once run each migration once', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const links = await Promise.all(Array.from({ length: 8 }, () => tempLink({ url, schema, migrate: false })));
  await Promise.all(links.map((link) => migrate(link, silentLogger, [FIRST, SECOND])));
  const [link] = links;
  expect(await link!.query(link!.sql('select n from {schema}.t'))).toEqual([[2]]);
  expect(
    await link!.query(link!.sql('select number, name, checksum from {schema}.migrations order by number')),
  ).toEqual([FIRST, SECOND].map(({ number, name, checksum }) => [number, name, checksum]));
});

test('who has just seen no schema sees the one that another made meanwhile, in the same transaction', async () => {
  const url = await postgresUrl();
  const schema = tempSchema(url);
  const [one, other] = await Promise.all([1, 2].map(() => tempLink({ url, schema, migrate: false })));
  await one!.transaction(async (tx) => {
    expect(await pendingMigration(one!, tx, [FIRST])).toBe(FIRST);
    await migrate(other!, silentLogger, [FIRST]);
    expect(await pendingMigration(one!, tx, [FIRST])).toBeUndefined();
  });
});

test('only what is new is run', async () => {
  const link = await bare();
  expect(await schemaVersion(link)).toBe(0);
  await migrate(link, silentLogger, [FIRST]);
  const logger = new LogBook();
  await migrate(link, logger, [FIRST, SECOND, THIRD]);
  await migrate(link, logger, [FIRST, SECOND, THIRD]);
  expect(logger.lines.map(({ fields }) => fields)).toEqual(
    [SECOND, THIRD].map(({ name }) => ({ schema: link.schema, migration: name })),
  );
  expect(await schemaVersion(link)).toBe(3);
});

test('a schema of a newer version is refused, by whoever opens it', async () => {
  const link = await bare();
  await migrate(link, silentLogger, [FIRST, SECOND]);
  await expect(migrate(link, silentLogger, [FIRST])).rejects.toMatchObject({
    code: 'unsupported',
    message: `The schema ${link.schema} was made by a newer version of Waybill: it is 2, this one knows 1.`,
    hint: expect.stringContaining('Upgrade'),
  });
});

test('a schema that was made by other files is refused', async () => {
  const link = await bare();
  await migrate(link, silentLogger, [FIRST]);
  const edited = migration(FIRST.name, `${FIRST.sql} -- edited`);
  await expect(migrate(link, silentLogger, [edited, SECOND])).rejects.toMatchObject({ code: 'unsupported' });
  expect(await schemaVersion(link)).toBe(1);
});

test('a migration that fails leaves nothing behind, and the ones before it stand', async () => {
  const link = await bare();
  const bad = migration('0002_bad.sql', 'create table {schema}.half (n int); select 1 / 0;');
  await expect(migrate(link, silentLogger, [FIRST, bad])).rejects.toMatchObject({ code: 'internal' });
  expect(await schemaVersion(link)).toBe(1);
  expect(await link.query('select to_regclass($1) is null', [link.sql('{schema}.half')])).toEqual([[true]]);
});

test('a long transaction holds up the migration but never those who work', async () => {
  const url = await postgresUrl();
  const link = await tempLink({ url, migrate: false });
  await migrate(link, silentLogger, [FIRST]);
  const long = await tempClient(url);
  await long.query(`begin; ${link.sql('select * from {schema}.t')}`);
  const logger = new LogBook();
  const migrating = migrate(link, logger, [FIRST, SECOND, THIRD]);
  await logger.line('info', /Waiting for others/);
  // Without a limit, whoever comes after the migration would wait as long as it does.
  for (let n = 0; n < 20; n++) await link.query(link.sql('insert into {schema}.t values ($1)'), [n]);
  expect(await schemaVersion(link)).toBe(2);
  await long.query('commit');
  await migrating;
  expect(await schemaVersion(link)).toBe(3);
});

test('who may not make schemas can use one that was made for them', async () => {
  const url = new URL(await postgresUrl());
  const admin = url.href;
  const schema = tempSchema(admin);
  const role = `${schema}_user`;
  await execute(admin, `create role "${role}" login password 'own'`);
  await execute(admin, `create schema "${schema}" authorization "${role}"`);
  onTestFinished(async () => {
    await execute(admin, `drop owned by "${role}" cascade`);
    await execute(admin, `drop role "${role}"`);
  });
  url.username = role;
  url.password = 'own';
  const link = await tempLink({ url: url.href, schema, migrate: false });
  await migrate(link, silentLogger, [FIRST]);
  expect(await schemaVersion(link)).toBe(1);
  const elsewhere = openLink({ url: url.href, schema: `${schema}_x` });
  await expect(elsewhere).rejects.toMatchObject({ code: 'unavailable', message: /lacks a privilege/ });
});
