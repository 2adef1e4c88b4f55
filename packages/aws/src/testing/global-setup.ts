import { shareServer } from '@waybill/sql/postgres/testing';
import type { TestProject } from 'vitest/node';
import { startLocalDynamo } from './local-dynamo.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** A GET answers the endpoint of the DynamoDB Local of this test run. */
    dynamoAddressUrl: string;
  }
}

/** One DynamoDB Local for all test files of a run: Java needs seconds to start, and many more until it is fast. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const shared = await shareServer(
    startLocalDynamo,
    ({ endpoint }) => endpoint,
    (server) => server.stop(),
  );
  project.provide('dynamoAddressUrl', shared.addressUrl);
  return shared.close;
}
