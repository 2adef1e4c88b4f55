import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { type PostgresServer, startPostgres } from './embedded.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Ask here for the address of the PostgreSQL server of this test run. */
    postgresDesk: string;
  }
}

/** One PostgreSQL server for all test files of a run, started when the first of them asks for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let server: Promise<PostgresServer> | undefined;
  const desk = createServer((_, response) => {
    server ??= startPostgres();
    server.then(
      ({ url }) => response.end(url),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => desk.listen(0, '127.0.0.1', resolve));
  project.provide('postgresDesk', `http://127.0.0.1:${(desk.address() as AddressInfo).port}`);
  return async () => {
    desk.close();
    desk.closeAllConnections();
    await (await server?.catch(() => undefined))?.remove();
  };
}
