import { randomUUID } from 'node:crypto';
import type { Clock } from '@waybill/core';
import { postgresStore } from '@waybill/sql/postgres';
import { type PostgresServer, startPostgres } from '@waybill/sql/postgres/testing';
import { afterAll, beforeAll } from 'vitest';
import { testHarmlessHints } from './testing/test-harmless-hints.ts';

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
}, 60_000);
afterAll(() => server.remove());

/** Each test in a schema of its own. */
const postgres = (clock: Clock) =>
  postgresStore({ url: server.url, schema: `test_${randomUUID().slice(0, 8)}`, clock });

testHarmlessHints('postgres + sqs', postgres, 1_000);
