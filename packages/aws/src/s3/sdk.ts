// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import type * as Aws from '@aws-sdk/client-s3';
// biome-ignore lint/suspicious/noTsIgnore: in the repository the peer is there, so nothing would be expected.
/** @ts-ignore An optional peer: where it is not installed, its types are any. */
import type * as AwsPresigner from '@aws-sdk/s3-request-presigner';
import { isMissing, loadOptional } from '@waybill/core';

export type Sdk = typeof Aws;
export type Presigner = typeof AwsPresigner;
export type Client = Aws.S3Client;

/** The SDK is heavy, so it comes only where somebody uses it. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional({ name: '@aws-sdk/client-s3', needs: 'Blobs in S3 need' }, () => import('@aws-sdk/client-s3'));

/** Null where it is not installed: then there are no addresses, and payloads travel through the server. */
export const loadPresigner = (): Promise<Presigner | null> =>
  import('@aws-sdk/s3-request-presigner').catch((error: unknown) => {
    if (isMissing(error, '@aws-sdk/s3-request-presigner')) return null;
    throw error;
  });
