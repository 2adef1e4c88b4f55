import { checkJson, checkPrintable, isObject } from '../check.ts';
import type { Clock } from '../clock.ts';
import { invalidField, WaybillError } from '../errors.ts';
import { kindOf, type Told } from '../events/subject-event.ts';
import type { JsonObject } from '../json.ts';
import {
  MAX_RECORD_BYTES,
  type PutAnswer,
  type PutRecord,
  type RecordKey,
  type RecordQuery,
  type RecordStore,
  type RemoveAnswer,
  type StoredRecord,
} from './records.ts';
import { readEach } from './unreadable.ts';

/** A record as a database keeps it: the value is JSON in text. */
export interface RecordRow extends Omit<StoredRecord, 'value'> {
  json: string;
}

export interface RowPut extends RecordKey {
  json: string;
  expected: number;
  expiresAt: number | null;
  /** Told where the row is stored, in the same transaction. */
  told: Told | null;
}

export type RowPutAnswer = { status: 'stored'; row: RecordRow } | { status: 'conflict'; row: RecordRow | null };

export interface RowQuery {
  tenant: string;
  kind: string;
  /** May be empty. */
  prefix: string;
  /** The id to continue behind; null: from the start. */
  after: string | null;
  limit: number;
  now: number;
}

export interface RowPage {
  rows: RecordRow[];
  /** The id to continue behind; null: this was all. */
  last: string | null;
}

/**
 * What a database does for `recordStore`, which has checked every argument and tells the time. A row whose `expiresAt` is
 * not later than `now` counts as absent. The row of a removed record loses its value and expires at once; without a value
 * it counts as absent whatever the time, since clocks may be set back.
 */
export interface RecordTable {
  get(keys: readonly RecordKey[], now: number): Promise<(RecordRow | null)[]>;
  put(requests: readonly RowPut[], now: number): Promise<RowPutAnswer[]>;
  list(query: RowQuery): Promise<RowPage>;
  remove(key: RecordKey, expected: number | null, told: Told | null, now: number): Promise<RemoveAnswer>;
}

/**
 * How long the row of an expired or removed record stays. Its successor takes a version above it, so no version is given twice.
 * Afterwards the time itself is above it, also on a machine whose clock is late by less than this.
 */
export const EXPIRED_KEPT_MS = 86_400_000;

export const isLive = ({ expiresAt }: Pick<RecordRow, 'expiresAt'>, now: number): boolean =>
  expiresAt === null || expiresAt > now;

/** `before`: the version of the row that is there, expired or not; 0: there is none. At least 1, since 0 says: none. */
export const nextVersion = (before: number, now: number): number => Math.max(before + 1, now);

/** The rules that hold for records on every database. */
export function recordStore(table: RecordTable, clock: Clock): RecordStore {
  return {
    get: async (keys) => {
      for (const key of keys) checkKey(key);
      const rows = await table.get(keys.map(keyOf), clock.now());
      return rows.map((row) => row && readRow(row));
    },
    put: async (requests) => {
      const now = clock.now();
      const answers = await table.put(
        requests.map((request) => checkPut(request, now)),
        now,
      );
      return answers.map((answer): PutAnswer => {
        if (answer.status === 'stored') return { status: 'stored', record: readRow(answer.row) };
        return { status: 'conflict', record: answer.row && readRow(answer.row) };
      });
    },
    list: async (query) => {
      const { rows, last } = await table.list({ ...checkQuery(query), now: clock.now() });
      const { read, unreadable } = readEach(rows, readRow, keyOf);
      return { items: read, unreadable, ...(last !== null && { cursor: writeCursor(last) }) };
    },
    remove: async (key, expected, told) => {
      checkKey(key);
      if (expected !== undefined) checkVersion(expected);
      if (told) checkTold(key, told);
      return table.remove(keyOf(key), expected ?? null, told ?? null, clock.now());
    },
  };
}

const keyOf = ({ tenant, kind, id }: RecordKey): RecordKey => ({ tenant, kind, id });

const KIND = /^[a-z][a-z0-9]*([_-][a-z0-9]+)*$/;
/** These have tables and events of their own. */
const TAKEN = ['job', 'queue', 'cron', 'workflow', 'worker'];
const MAX_KIND = 64;
const MAX_LIMIT = 1000;

function checkKind(kind: string): void {
  if (TAKEN.includes(kind)) throw invalidField('kind', `must not be '${kind}', which is no kind of record.`);
  if (kind.length <= MAX_KIND && KIND.test(kind)) return;
  throw invalidField(
    'kind',
    `must be at most ${MAX_KIND} lower-case letters and digits, as in api-key, not '${kind}'.`,
  );
}

function checkKey({ kind, id }: RecordKey): void {
  checkKind(kind);
  checkPrintable('id', id);
}

function checkVersion(expected: number): void {
  if (Number.isSafeInteger(expected) && expected >= 0) return;
  throw invalidField('expected', `must be a version or 0, not ${expected}.`);
}

/** Whoever reads an event of a record must be able to find the record by it. */
function checkTold({ tenant, kind, id }: RecordKey, told: Told): void {
  if (told.tenant === tenant && told.subject === id && kindOf(told.type) === kind) return;
  throw invalidField('told', `must be a '${kind}.' event of the record it comes with, not ${told.type}.`);
}

function checkPut({ value, expected, expiresAt = null, told, ...key }: PutRecord, now: number): RowPut {
  checkKey(key);
  checkVersion(expected);
  if (told) checkTold(key, told);
  if (expiresAt !== null && !Number.isSafeInteger(expiresAt)) {
    throw invalidField('expiresAt', `must be whole milliseconds since the epoch, not ${expiresAt}.`);
  }
  // A row that expired long ago could be removed at once, and its version with it.
  const until = expiresAt && Math.max(expiresAt, now);
  return { ...keyOf(key), json: jsonOf(key, value), expected, expiresAt: until, told: told ?? null };
}

function jsonOf({ kind, id }: RecordKey, value: JsonObject): string {
  checkJson(value);
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes <= MAX_RECORD_BYTES) return json;
  const text = `The ${kind} '${id}' has ${bytes} bytes of JSON; a record holds at most ${MAX_RECORD_BYTES}.`;
  throw new WaybillError('payload_too_large', text, { details: { bytes, max: MAX_RECORD_BYTES } });
}

function checkQuery({ tenant, kind, prefix = '', limit, cursor }: RecordQuery): Omit<RowQuery, 'now'> {
  checkKind(kind);
  if (prefix !== '') checkPrintable('prefix', prefix);
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw invalidField('limit', `must be an integer from 1 to ${MAX_LIMIT}.`, { min: 1, max: MAX_LIMIT });
  }
  return { tenant, kind, prefix, after: cursor === undefined ? null : readCursor(cursor, prefix), limit };
}

const writeCursor = (id: string): string => Buffer.from(id).toString('base64url');

function readCursor(cursor: string, prefix: string): string {
  const id = Buffer.from(cursor, 'base64url').toString();
  if (writeCursor(id) === cursor && id !== '' && id.startsWith(prefix)) return id;
  throw new WaybillError('invalid_request', 'The cursor was not made by this query.');
}

function readRow({ json, ...row }: RecordRow): StoredRecord {
  const value = parse(json);
  if (isObject(value)) return { ...row, value };
  throw new WaybillError('internal', `The ${row.kind} '${row.id}' of the tenant '${row.tenant}' is damaged.`, {
    details: { tenant: row.tenant, kind: row.kind, id: row.id },
    hint: 'Remove the record and make it anew.',
  });
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
