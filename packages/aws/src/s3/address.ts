import { invalidField } from '@waybill/core';
import { checkNames, endpointIn } from '../sqs/address.ts';
import type { S3Options } from './settings.ts';

/** Reads `s3://BUCKET/PREFIX?region=..&endpoint=..`; everything but the bucket may be left out. */
export function s3OptionsOf(address: string): S3Options {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== 's3:' || url.hostname === '')
    throw invalidField('blobs', 'must be an address like s3://my-bucket/waybill.');
  checkNames('blobs', url, ['region', 'endpoint']);
  const [region, endpoint] = [url.searchParams.get('region'), endpointIn('blobs', url)];
  const prefix = url.pathname.replace(/^\/|\/$/g, '');
  return {
    bucket: url.hostname,
    ...(prefix !== '' && { prefix: `${prefix}/` }),
    ...(region !== null && { region }),
    ...(endpoint !== null && { endpoint }),
  };
}
