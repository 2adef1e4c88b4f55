export type { ClientTimeouts } from '../timeouts.ts';
export { s3OptionsOf } from './address.ts';
export { s3BlobStore } from './s3-blob-store.ts';
export type { S3Options } from './settings.ts';
