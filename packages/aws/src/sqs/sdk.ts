import type { SQSClient } from '@aws-sdk/client-sqs';
import { WaybillError } from '@waybill/core';

export type Sdk = typeof import('@aws-sdk/client-sqs');
/** All that the transport needs of a client, so that a test may stand in between. */
export type Client = Pick<SQSClient, 'send'>;

/** The SDK is heavy, so it comes only where somebody uses it. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-sqs');
  } catch (cause) {
    throw new WaybillError('unsupported', "The SQS transport needs the package '@aws-sdk/client-sqs'.", {
      cause,
      hint: 'Install it: npm install @aws-sdk/client-sqs',
    });
  }
}
