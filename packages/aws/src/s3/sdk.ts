import type { S3Client } from '@aws-sdk/client-s3';
import { WaybillError } from '@waybill/core';

export type Sdk = typeof import('@aws-sdk/client-s3');
export type Presigner = typeof import('@aws-sdk/s3-request-presigner');
export type Client = S3Client;

/** The SDK is heavy, so it comes only where somebody uses it. */
export async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3');
  } catch (cause) {
    throw new WaybillError('unsupported', "Blobs in S3 need the package '@aws-sdk/client-s3'.", {
      cause,
      hint: 'Install it: npm install @aws-sdk/client-s3',
    });
  }
}

/** Null where it is not installed: then there are no addresses, and payloads travel through the server. */
export const loadPresigner = (): Promise<Presigner | null> => import('@aws-sdk/s3-request-presigner').catch(() => null);
