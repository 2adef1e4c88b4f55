import type { SQSClient } from '@aws-sdk/client-sqs';
import { loadOptional } from '@waybill/core';

export type Sdk = typeof import('@aws-sdk/client-sqs');
/** All that the transport needs of a client, so that a test may stand in between. */
export type Client = Pick<SQSClient, 'send'>;

/** The SDK is heavy, so it comes only where somebody uses it. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional({ name: '@aws-sdk/client-sqs', needs: 'The SQS transport needs' }, () => import('@aws-sdk/client-sqs'));
