/** Keeps payloads that are too large for a row. Keys look like `jobs/{job_id}/args-{hash}`. */
export interface BlobStore {
  /** Durable before it answers; nobody ever sees half of it. */
  put(key: string, data: Uint8Array): Promise<void>;
  /** Null when there is no such blob. */
  get(key: string): Promise<Uint8Array | null>;
  /** Removes every blob whose key starts with the prefix. Idempotent. */
  deletePrefix(prefix: string): Promise<void>;
  /** The first blobs whose keys start with the prefix and come after `after`, in the order of their keys. */
  list(prefix: string, page: { after?: string; limit: number }): Promise<BlobInfo[]>;
  /** An address at which anybody may read the blob for a while: a secret. Absent where a store has no such addresses. */
  presign?(key: string, forMs: number): Promise<string>;
  close(): Promise<void>;
}

export interface BlobInfo {
  key: string;
  /** When it was put last, by the clock of whoever keeps it. */
  putAt: number;
}
