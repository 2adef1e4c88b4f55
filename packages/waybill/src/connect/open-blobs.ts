import {
  type BlobOptions,
  type BlobStore,
  didYouMean,
  folderBlobStore,
  invalidField,
  WaybillError,
} from '@waybill/core';
import { withoutSecrets } from './address.ts';

/** What a job or a result may have at most where there are blobs; without them a mebibyte is the limit. */
export const LARGEST_PAYLOAD = 32 * 1024 * 1024;

/**
 * Opens what keeps large payloads: `file:FOLDER` or `s3://BUCKET/PREFIX`, loaded only when named. `?threshold=BYTES` says
 * what is large.
 */
export async function openBlobs(address: string): Promise<BlobOptions> {
  const [place = '', query = ''] = address.split('?', 2);
  const params = new URLSearchParams(query);
  const threshold = params.get('threshold');
  params.delete('threshold');
  const rest = params.size === 0 ? place : `${place}?${params}`;
  return { store: await openStore(rest), ...(threshold !== null && { threshold: bytesOf(threshold) }) };
}

async function openStore(address: string): Promise<BlobStore> {
  if (address.startsWith('s3:')) {
    const { s3BlobStore, s3OptionsOf } = await import('@waybill/aws/s3');
    return s3BlobStore(s3OptionsOf(address));
  }
  const folder = /^file:(?:\/\/(?=\/))?([^?]+)$/.exec(address)?.[1];
  if (folder !== undefined) return folderBlobStore(folder);
  const meant = didYouMean(address.split(':', 1)[0]!, ['file', 's3']);
  throw new WaybillError('invalid_request', `Unknown address of blobs '${withoutSecrets(address)}'.${meant}`, {
    hint: 'Use an address like file:./blobs or s3://BUCKET/PREFIX.',
  });
}

function bytesOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text);
  throw invalidField('threshold', `must be a number of bytes, not '${text}'.`);
}
