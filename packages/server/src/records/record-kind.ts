import type { Fields, JsonObject, RecordEventType, RecordFact } from '@waybill/core';

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
  read(body: Fields): JsonObject;
  /** What the log says of a change, null standing for no record; undefined: nothing. */
  fact(before: JsonObject | null, after: JsonObject | null): RecordFact | undefined;
  /** A body, for whoever reads and tests all kinds. */
  example: JsonObject;
}
