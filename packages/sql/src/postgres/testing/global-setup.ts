import type { TestProject } from 'vitest/node';
import { startPostgres } from './embedded.ts';
import { shareServer } from './shared-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A GET answers the address of the PostgreSQL server of this test run. */
    postgresAddressUrl: string;
  }
}

/** One PostgreSQL server for all test files of a run, started when the first of them asks for it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = await shareServer(
    () => startPostgres(),
    ({ url }) => url,
    (server) => server.remove(),
  );
  project.provide('postgresAddressUrl', shared.addressUrl);
  return shared.close;
}
