import type { Told } from '../events/subject-event.ts';
import type { JsonObject } from '../json.ts';
import type { Page } from './query.ts';

/**
 * The tenant of what is looked up before the caller's tenant is known, such as API keys by their hash. No caller may name
 * it: the check of a caller's tenant must refuse every name that begins with `~`.
 */
export const SYSTEM_TENANT = '~system';

/** The size of a value, as JSON in UTF-8. The smallest item of the stores, 400 KB on DynamoDB, must hold it. */
export const MAX_RECORD_BYTES = 256 * 1024;

export interface RecordKey {
  tenant: string;
  /** What it is about, such as `api-key`: lower-case letters and digits, words joined by `-` or `_`. */
  kind: string;
  /** Printable text of at most 512 bytes. */
  id: string;
}

/** One small JSON document by (tenant, kind, id), for everything administrative: keys, webhooks, schemas, cursors. */
export interface StoredRecord extends RecordKey {
  /**
   * Grows with every put, by any number. It never restarts: a record that is made anew after a removal or its expiry has
   * a higher version than the one before, so a version that was read names one value for ever.
   */
  version: number;
  value: JsonObject;
  createdAt: number;
  updatedAt: number;
  /** From then on the record counts as absent, by the store's clock. Null: it stays until it is removed. */
  expiresAt: number | null;
}

/** Replaces the record as a whole, its expiry included. */
export interface PutRecord extends RecordKey {
  value: JsonObject;
  /** The version that it must have now; 0: there must be none. */
  expected: number;
  /** A moment that has passed counts as now. @defaultValue null */
  expiresAt?: number | null;
  /** Told with the change; of the record's tenant, and with its id as the subject. */
  told?: Told;
}

export type PutAnswer =
  | { status: 'stored'; record: StoredRecord }
  /** The record as it is, null where there is none. After an unknown outcome the caller finds its own value in it. */
  | { status: 'conflict'; record: StoredRecord | null };

export type RemoveAnswer =
  | { status: 'removed' }
  | { status: 'absent' }
  /** It has another version than the expected one, and stays. */
  | { status: 'conflict'; version: number };

/** A page may be short or empty and have a cursor all the same. The cursor is for the same tenant, kind and prefix. */
export interface RecordQuery {
  tenant: string;
  kind: string;
  /** Only ids that begin so. */
  prefix?: string;
  /** 1 to 1000. */
  limit: number;
  cursor?: string;
}

/** A record whose value is damaged. It can be removed, or replaced by a caller that knows its version. */
export interface UnreadableRecord extends RecordKey {
  cause: unknown;
}

export interface RecordPage extends Page<StoredRecord> {
  unreadable: UnreadableRecord[];
}

export interface RecordStore {
  /** In the order of the keys. A damaged record fails the call. */
  get(keys: readonly RecordKey[]): Promise<(StoredRecord | null)[]>;
  /** Each is atomic by itself, the batch is not. Requests for the same key happen in any order. */
  put(requests: readonly PutRecord[]): Promise<PutAnswer[]>;
  /** By id in the order of its bytes in UTF-8. */
  list(query: RecordQuery): Promise<RecordPage>;
  /** Whatever its version, unless one is expected. */
  remove(key: RecordKey, expected?: number, told?: Told): Promise<RemoveAnswer>;
}
