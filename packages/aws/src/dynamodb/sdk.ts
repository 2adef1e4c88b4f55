import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { WaybillError } from '@waybill/core';

export type Sdk = typeof import('@aws-sdk/client-dynamodb');
/** All that the store needs of a client, so that a test may stand in between. */
export type Client = Pick<DynamoDBClient, 'send'>;

/** The SDK is heavy, so it comes only where somebody uses it. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-dynamodb');
  } catch (cause) {
    throw new WaybillError('unsupported', "The DynamoDB store needs the package '@aws-sdk/client-dynamodb'.", {
      cause,
      hint: 'Install it: npm install @aws-sdk/client-dynamodb',
    });
  }
}
