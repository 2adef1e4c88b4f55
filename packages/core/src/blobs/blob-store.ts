/** Keeps payloads that are too large for a row. Keys look like `jobs/{job_id}/args`. */
export interface BlobStore {
  put(key: string, data: Uint8Array): Promise<void>;
  /** Null when there is no such blob. */
  get(key: string): Promise<Uint8Array | null>;
  /** Removes every blob whose key starts with the prefix. Idempotent. */
  deletePrefix(prefix: string): Promise<void>;
}
