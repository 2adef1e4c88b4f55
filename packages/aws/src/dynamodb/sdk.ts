import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { loadOptional } from '@waybill/core';

export type Sdk = typeof import('@aws-sdk/client-dynamodb');
/** All that the store needs of a client, so that a test may stand in between. */
export type Client = Pick<DynamoDBClient, 'send'>;

/** The SDK is heavy, so it comes only where somebody uses it. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional(
    { name: '@aws-sdk/client-dynamodb', needs: 'The DynamoDB store needs' },
    () => import('@aws-sdk/client-dynamodb'),
  );
