import { type BlobOptions, type BlobStore, folderBlobStore, invalidField } from '@waybill/core';
import { unknownPlace } from './open-transport.ts';

/** What a job or a result may have at most where there are blobs; without them a mebibyte is the limit. */
export const LARGEST_PAYLOAD = 32 * 1024 * 1024;

/** As the engine has it: a reference takes the place of a payload, so the payload should be the larger of the two. */
const SMALLEST_THRESHOLD = 16;

/**
 * Checks what keeps large payloads, `file:FOLDER` or `s3://BUCKET/PREFIX`, and answers how to open it. Loaded only when
 * named. `?threshold=BYTES` says what is large.
 */
export async function readBlobs(address: unknown): Promise<() => Promise<BlobOptions>> {
  if (typeof address !== 'string') throw unknownBlobs(address);
  const [place = '', query = ''] = address.split('?', 2);
  const params = new URLSearchParams(query);
  const text = params.get('threshold');
  params.delete('threshold');
  const open = await readStore(params.size === 0 ? place : `${place}?${params}`);
  // The whole of it: without its query, the end of a password could no longer be seen.
  if (open === null) throw unknownBlobs(address);
  const threshold = text === null ? {} : { threshold: bytesOf(text) };
  return async () => ({ store: await open(), ...threshold });
}

export const openBlobs = async (address: string): Promise<BlobOptions> => (await readBlobs(address))();

async function readStore(address: string): Promise<(() => Promise<BlobStore>) | null> {
  if (/^s3:/i.test(address)) {
    const { s3BlobStore, s3OptionsOf } = await import('@waybill/aws/s3');
    const settings = s3OptionsOf(address);
    return () => s3BlobStore(settings);
  }
  const folder = /^file:(?:\/\/(?=\/))?([^?]+)$/i.exec(address)?.[1];
  return folder === undefined ? null : async () => folderBlobStore(folder);
}

const unknownBlobs = (address: unknown) =>
  unknownPlace('blobs', address, ['file', 's3'], 'Use an address like file:./blobs or s3://BUCKET/PREFIX.');

function bytesOf(text: string): number {
  const bytes = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(bytes) && bytes >= SMALLEST_THRESHOLD) return bytes;
  throw invalidField('threshold', `must be a whole number of bytes, at least ${SMALLEST_THRESHOLD}.`);
}
