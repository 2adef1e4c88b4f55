import { randomBytes } from 'node:crypto';
import { sharedAddress } from '@waybill/sql/postgres/testing';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    postgresAddressUrl: string;
  }
}

/** The server of this test run: the one that the environment names, else the embedded one that all tests share. */
async function serverUrl(): Promise<string> {
  const given = process.env.WAYBILL_TEST_POSTGRES;
  if (given) return given;
  return sharedAddress(inject('postgresAddressUrl'));
}

/** The address of a database that nobody else uses, dropped after the test. */
export async function tempDatabase(): Promise<string> {
  const server = await serverUrl();
  const name = `test_${randomBytes(6).toString('hex')}`;
  await execute(server, `create database ${name}`);
  onTestFinished(async () => {
    await execute(server, `drop database ${name} with (force)`);
  });
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

/** On a connection of its own. */
export async function execute(url: string, text: string, values: unknown[] = []): Promise<unknown[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}
