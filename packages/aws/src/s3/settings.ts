import type { ClientTimeouts } from '../timeouts.ts';
import type { Client } from './sdk.ts';

export interface S3Options {
  bucket: string;
  /** Begins every key, where others use the bucket too. @defaultValue none */
  prefix?: string;
  /** @defaultValue what the environment says */
  region?: string;
  /** Another address than the region's, for example of an emulator. */
  endpoint?: string;
  /** A client of your own, in place of region and endpoint; it and its timeouts stay yours. */
  client?: Client;
  /** How long to wait for S3. */
  timeouts?: ClientTimeouts;
}
