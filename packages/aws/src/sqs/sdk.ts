// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import type * as Aws from '@aws-sdk/client-sqs';
import { loadOptional } from '@waybill/core';

export type Sdk = typeof Aws;
export type Message = Aws.Message;
export type MessageAttributeValue = Aws.MessageAttributeValue;
export type SendMessageBatchRequestEntry = Aws.SendMessageBatchRequestEntry;
/** All that the transport needs of a client, so that a test may stand in between. */
export type Client = Pick<Aws.SQSClient, 'send'>;

/** The SDK is heavy, so it comes only where somebody uses it. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional({ name: '@aws-sdk/client-sqs', needs: 'The SQS transport needs' }, () => import('@aws-sdk/client-sqs'));
