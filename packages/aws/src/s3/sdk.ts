import type { S3Client } from '@aws-sdk/client-s3';
import { isMissing, loadOptional } from '@waybill/core';

export type Sdk = typeof import('@aws-sdk/client-s3');
export type Presigner = typeof import('@aws-sdk/s3-request-presigner');
export type Client = S3Client;

/** The SDK is heavy, so it comes only where somebody uses it. */
export const loadSdk = (): Promise<Sdk> =>
  loadOptional({ name: '@aws-sdk/client-s3', needs: 'Blobs in S3 need' }, () => import('@aws-sdk/client-s3'));

/** Null where it is not installed: then there are no addresses, and payloads travel through the server. */
export const loadPresigner = (): Promise<Presigner | null> =>
  import('@aws-sdk/s3-request-presigner').catch((error: unknown) => {
    if (isMissing(error, '@aws-sdk/s3-request-presigner')) return null;
    throw error;
  });
