import { randomBytes } from 'node:crypto';
import { type Store, silentLogger } from '@waybill/core';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import type { Link } from '../link/link.ts';
import { openLink } from '../link/open-link.ts';
import type { PostgresOptions } from '../link/options.ts';
import { type PostgresServer, startPostgres } from './embedded.ts';
import { sharedAddress } from './shared-server.ts';

/** The server of this test run: the one that the environment names, else an embedded one. */
export async function postgresUrl(): Promise<string> {
  const given = process.env.WAYBILL_TEST_POSTGRES;
  if (given) return given;
  return sharedAddress(inject('postgresAddressUrl'));
}

/** A server that a test may stop, and that is gone after it. */
export async function ownPostgres(flags: readonly string[] = []): Promise<PostgresServer> {
  const server = await startPostgres(flags);
  onTestFinished(() => server.remove());
  return server;
}

/** The name of a schema that nobody has, and that is dropped after the test. */
export function tempSchema(url: string): string {
  const schema = `test_${randomBytes(6).toString('hex')}`;
  onTestFinished(async () => {
    await execute(url, `drop schema if exists "${schema}" cascade`);
  });
  return schema;
}

/** A connection that ends with the test. */
export async function tempClient(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  client.on('error', () => {});
  await client.connect();
  onTestFinished(() => client.end());
  return client;
}

/** On a connection of its own. */
export async function execute(url: string, text: string, values: unknown[] = []): Promise<unknown[][]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    const { rows } = await client.query<unknown[]>({ text, values, rowMode: 'array' });
    return rows;
  } finally {
    await client.end();
  }
}

/** In a schema of its own, and closed after the test. */
export async function tempLink(options: PostgresOptions = {}): Promise<Link> {
  const url = options.url ?? (await postgresUrl());
  const link = await openLink({ logger: silentLogger, ...options, url, schema: options.schema ?? tempSchema(url) });
  onTestFinished(() => link.close());
  return link;
}

/** Any store on a link, in a schema of its own, and closed after the test. */
export async function tempStore(
  open: (options: PostgresOptions) => Promise<Store>,
  options: PostgresOptions = {},
): Promise<Store> {
  const url = options.url ?? (await postgresUrl());
  const place = options.pool ? {} : { url };
  const store = await open({ logger: silentLogger, ...options, ...place, schema: options.schema ?? tempSchema(url) });
  onTestFinished(() => store.close());
  return store;
}

/** A table that is written to in a way that may be repeated, as everything in the store is. */
export async function tempTable(link: Link): Promise<{ insert: string; numbers(): Promise<number[]> }> {
  await link.query(link.sql('create schema {schema} create table t (n int primary key)'));
  return {
    insert: link.sql('insert into {schema}.t values ($1) on conflict do nothing'),
    numbers: async () => (await link.query<[number]>(link.sql('select n from {schema}.t order by n'))).map(([n]) => n),
  };
}

/** The days of jobs that have partitions of their own, like `20300101`. */
export async function daysIn(url: string, schema: string): Promise<string[]> {
  const rows = await execute(
    url,
    `select c.relname from pg_class c where c.relnamespace = '"${schema}"'::regnamespace
      and c.relkind = 'r' and c.relname ~ '^job_ends_2' order by 1`,
  );
  return rows.map(([name]) => String(name).slice('job_ends_'.length));
}
