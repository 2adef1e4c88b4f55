import { readdirSync, readFileSync } from 'node:fs';
import type { Logger } from '@waybill/core';
import type { Link } from './link.ts';

const FOLDER = new URL('../../../src/postgres/migrations/', import.meta.url);

/** Brings the schema up to date. */
export async function migrate(link: Link, _logger: Logger): Promise<void> {
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.sql'));
  await link.transaction(async (tx) => {
    await tx.query("select pg_advisory_xact_lock(hashtext('waybill migrate ' || $1))", [link.schema]);
    await tx.query(link.sql('create schema if not exists {schema}'));
    await tx.query(
      link.sql('create table if not exists {schema}.migrations (number int primary key, name text not null)'),
    );
    const [row] = await tx.query<[number]>(link.sql('select coalesce(max(number), 0) from {schema}.migrations'));
    for (const name of files.sort()) {
      const number = Number.parseInt(name, 10);
      if (number <= row![0]) continue;
      await tx.query(link.sql(readFileSync(new URL(name, FOLDER), 'utf8')));
      await tx.query(link.sql('insert into {schema}.migrations values ($1, $2)'), [number, name]);
    }
  });
}
