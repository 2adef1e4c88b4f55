import { didYouMean, invalidField } from '@waybill/core';
import type { S3Options } from './settings.ts';

const KNOWN = ['region', 'endpoint'];

/** Reads `s3://BUCKET/PREFIX?region=..&endpoint=..`; everything but the bucket may be left out. */
export function s3OptionsOf(address: string): S3Options {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url?.protocol !== 's3:' || url.hostname === '')
    throw invalidField('blobs', 'must be an address like s3://my-bucket/waybill.');
  for (const name of url.searchParams.keys()) {
    if (KNOWN.includes(name)) continue;
    const meant = didYouMean(name, KNOWN) || ` It takes ${KNOWN.join(' and ')}.`;
    throw invalidField('blobs', `has '${name}', which is unknown.${meant}`);
  }
  const [region, endpoint] = [url.searchParams.get('region'), url.searchParams.get('endpoint')];
  const prefix = url.pathname.replace(/^\/|\/$/g, '');
  return {
    bucket: url.hostname,
    ...(prefix !== '' && { prefix: `${prefix}/` }),
    ...(region !== null && { region }),
    ...(endpoint !== null && { endpoint }),
  };
}
