import { spawnSync } from 'node:child_process';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { type LocalDynamoDb, startDynamoDb } from '../cloud/dynamodb.ts';

/** Where it is missing these tests are skipped, but never in CI. */
export const hasJava = spawnSync('java', ['-version']).status === 0;

export type LocalDynamo = LocalDynamoDb;

/** The one of the local cloud, on a free port. */
export const startLocalDynamo = (): Promise<LocalDynamo> => startDynamoDb('127.0.0.1', 0);

/** Credentials that only DynamoDB Local takes. */
export const localClient = (endpoint: string): DynamoDBClient =>
  new DynamoDBClient({
    endpoint,
    region: 'local',
    credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
    maxAttempts: 1,
  });
