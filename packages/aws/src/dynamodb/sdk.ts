// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import type * as Aws from '@aws-sdk/client-dynamodb';
import { loadOptional } from '@waybill/core';

export type Sdk = typeof Aws;
export type AttributeValue = Aws.AttributeValue;
export type DynamoDBClient = Aws.DynamoDBClient;
export type GlobalSecondaryIndexDescription = Aws.GlobalSecondaryIndexDescription;
export type KeySchemaElement = Aws.KeySchemaElement;
export type TableDescription = Aws.TableDescription;
export type TransactWriteItem = Aws.TransactWriteItem;
/** All that the store needs of a client, so that a test may stand in between. */
export type Client = Pick<Aws.DynamoDBClient, 'send'>;

/** The SDK is heavy, so it comes only where somebody uses it. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional(
    { name: '@aws-sdk/client-dynamodb', needs: 'The DynamoDB store needs' },
    () => import('@aws-sdk/client-dynamodb'),
  );
