import { WaybillError } from '@waybill/core';

interface Failure {
  name?: string;
  $metadata?: { httpStatusCode?: number };
}

/** There is no such blob; that there is no such bucket is another matter. */
export const isMissing = (error: unknown): boolean => ['NoSuchKey', 'NotFound'].includes((error as Failure).name ?? '');

/** In our words. S3's own may name addresses and keys, so they stay in the cause. */
export function failure(bucket: string, cause: unknown): WaybillError {
  const { name, $metadata } = cause as Failure;
  if (name === 'NoSuchBucket')
    return new WaybillError('not_found', `There is no bucket '${bucket}' for large payloads.`, { cause });
  if ($metadata?.httpStatusCode === 403) {
    const hint = 'It needs s3:GetObject, PutObject and DeleteObject on its keys, and s3:ListBucket on the bucket.';
    return new WaybillError('forbidden', `The bucket '${bucket}' does not let us in.`, { cause, hint });
  }
  return new WaybillError('unavailable', `The bucket '${bucket}' does not answer.`, { cause });
}
