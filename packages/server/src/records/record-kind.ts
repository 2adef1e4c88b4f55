import type { Fields, JsonObject, RecordEventType, RecordFact, StoredRecord, Waybill } from '@waybill/core';
import type { Surface } from '../surface.ts';

/**
 * One kind of administrative document: what its values are, and what the log tells of their changes. The rest (routes,
 * versions, tenants, who may, paging) is the same for all kinds: see record-routes.ts. docs/adding-a-kind.md shows how one
 * is added.
 */
export interface RecordKind {
  /** Also the first word of its events. */
  kind: string;
  /** Its routes are /waybill/v1/PLURAL and /waybill/v1/PLURAL/ID. */
  plural: string;
  events: readonly RecordEventType[];
  /** What a body may have; everything else is refused. */
  fields: readonly string[];
  /** Checks a body and makes the value of it. */
  read(body: Fields, reading: Reading): JsonObject;
  /** What the log says of a change, null standing for no record; undefined: nothing. */
  fact(before: JsonObject | null, after: JsonObject | null): RecordFact | undefined;
  /** A body, for whoever reads and tests all kinds. */
  example: JsonObject;
  /** How many a tenant may have, where each costs the servers something all the time. @defaultValue any number */
  most?: number;
  /** What answers show of a value. @defaultValue all of it */
  shown?(value: JsonObject): JsonObject;
  /** What the answer to a change shows beside the record, and no other answer does: a secret that was just made. */
  shownOnce?(before: JsonObject | null, after: JsonObject): JsonObject;
  /** What is kept elsewhere and shown in the record. In a list only what costs little. */
  beside?(port: Waybill, record: StoredRecord, asked: { surface: Surface; isListed: boolean }): Promise<JsonObject>;
}

/** What a kind knows beside the body. */
export interface Reading {
  /** The value that is replaced; null: the record is new. */
  before: JsonObject | null;
  surface: Surface;
}
