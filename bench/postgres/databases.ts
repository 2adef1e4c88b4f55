import { createHash } from 'node:crypto';
import { fileAt } from '../paths.ts';
import { withClient } from './connection.ts';

/** Told apart by the process that starts the runs, so that two of them may share a server. */
const prefixOf = (starter: number): string => `waybill_bench_${starter}_`;

/** Two builds that are compared may differ in their tables, so neither copies what the other made. */
const BUILD = createHash('sha256').update(fileAt('.')).digest('hex').slice(0, 8);

/** A database of its own for every run: nothing of the last one is left in tables, caches of plans or statistics. */
export async function databaseFor(server: string, nth = 0): Promise<{ store: string; remove(): Promise<void> }> {
  const name = `${prefixOf(process.ppid)}${process.pid}_${nth}`;
  await withClient(server, (client) => client.query(`create database ${name}`));
  const store = withDatabase(server, name);
  return { store, remove: () => drop(store) };
}

/**
 * Makes the database that an address names a copy of a template, which is made by `build` where it is missing. Copying
 * files takes seconds where filling tables takes minutes.
 */
export async function copyOfTemplate(url: string, template: string, build: () => Promise<void>): Promise<void> {
  const name = nameOf(url);
  const kept = `${prefixOf(process.ppid)}${BUILD}_${template.replaceAll('-', '_')}`;
  const server = withDatabase(url, 'postgres');
  const exists = await withClient(server, async (client) => {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [kept]);
    return rowCount === 1;
  });
  if (!exists) {
    await build();
    await withClient(server, (client) => client.query(`alter database ${name} rename to ${kept}`));
  } else await drop(url);
  await withClient(server, (client) => client.query(`create database ${name} template ${kept}`));
}

/** Templates, and what a failed run left; called by the process that started the runs. */
export async function dropLeftovers(server: string): Promise<void> {
  await withClient(server, async (client) => {
    const { rows } = await client.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [prefixOf(process.pid)],
    );
    for (const { datname } of rows) await client.query(`drop database if exists ${datname} with (force)`);
  });
}

async function drop(url: string): Promise<void> {
  const server = withDatabase(url, 'postgres');
  await withClient(server, (client) => client.query(`drop database if exists ${nameOf(url)} with (force)`));
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1);

export function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}
