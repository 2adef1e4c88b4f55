import { WaybillError } from '@waybill/core';
import { endpointOf, noAnswer } from '../silence.ts';

interface Failure {
  name?: string;
  $metadata?: { httpStatusCode?: number };
}

/** There is no such blob; that there is no such bucket is another matter. */
export const isMissing = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes((error as Failure).name ?? '');

/** In our words. S3's own may name keys, so they stay in the cause. */
export function failure(bucket: string, cause: unknown, endpoint?: string): WaybillError {
  const { name, $metadata } = cause as Failure;
  if (name === 'NoSuchBucket')
    return new WaybillError('not_found', `There is no bucket '${bucket}' for large payloads.`, { cause });
  if ($metadata?.httpStatusCode === 403) {
    const hint = 'It needs s3:GetObject, PutObject and DeleteObject on its keys, and s3:ListBucket on the bucket.';
    return new WaybillError('forbidden', `The bucket '${bucket}' does not let us in.`, { cause, hint });
  }
  return noAnswer(`The bucket '${bucket}' of S3`, cause, endpointOf(cause) ?? endpoint);
}
