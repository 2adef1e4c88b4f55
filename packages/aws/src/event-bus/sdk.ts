// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import type * as Aws from '@aws-sdk/client-eventbridge';
import { loadOptional } from '@waybill/core';

export type Sdk = typeof Aws;
export type PutEventsEntry = Aws.PutEventsRequestEntry;
/** All that is needed of a client, so that a test may stand in between. */
export type Client = Pick<Aws.EventBridgeClient, 'send'>;

/** The SDK is heavy, so it comes only where somebody uses it. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional(
    { name: '@aws-sdk/client-eventbridge', needs: 'The event bus needs' },
    () => import('@aws-sdk/client-eventbridge'),
  );
