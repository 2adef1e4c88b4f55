import { randomUUID } from 'node:crypto';
import type {
  RecordKey,
  RecordRow,
  RecordTable,
  RemoveAnswer,
  RowPage,
  RowPut,
  RowPutAnswer,
  RowQuery,
  Told,
} from '@waybill/core';
import { pageOf, type RecordCells, rangeOf, recordOf } from '../record-rows.ts';
import { textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { telling } from './subjects.ts';

export const recordTable = (base: Base): RecordTable => ({
  get: async (keys, now) => (await find(base, keys, now)).map((found) => found?.row ?? null),
  put: async (requests, now) => {
    const answers: RowPutAnswer[] = [];
    for (const request of requests) answers.push(await putRecord(base, request, now));
    return answers;
  },
  list: (query) => listRecords(base, query),
  remove: (key, expected, told, now) => removeRecord(base, key, expected, told, now),
});

/** Parts of a key have no line ends; a tenant's name comes last, since nothing has checked it here. */
const nameOf = ({ tenant, kind, id }: RecordKey): string => `${kind}\n${id}\n${tenant}`;

interface Found {
  row: RecordRow;
  mark: string;
}

async function find({ link, sql }: Base, keys: readonly RecordKey[], now: number): Promise<(Found | null)[]> {
  if (keys.length === 0) return [];
  const columns = [
    textArray(keys.map(({ tenant }) => tenant)),
    textArray(keys.map(({ kind }) => kind)),
    textArray(keys.map(({ id }) => id)),
  ];
  const found = new Map<string, Found>();
  for (const [mark, ...cells] of await link.query<[mark: string, ...RecordCells]>(sql['record-get'], [
    ...columns,
    now,
  ])) {
    const row = recordOf(cells);
    found.set(nameOf(row), { row, mark });
  }
  return keys.map((key) => found.get(nameOf(key)) ?? null);
}

async function putRecord(base: Base, request: RowPut, now: number): Promise<RowPutAnswer> {
  const { sql } = base;
  const { tenant, kind, id, json, expiresAt, expected, told } = request;
  const mark = randomUUID();
  const values = [tenant, kind, id, json, expiresAt, now, mark];
  const [stored] = await telling(base, told, (to) =>
    expected === 0
      ? to.query<RecordCells>(sql['record-create'], values)
      : to.query<RecordCells>(sql['record-replace'], [...values, expected]),
  );
  if (stored) return { status: 'stored', row: recordOf(stored) };
  const [found] = await find(base, [request], now);
  if (!found) return { status: 'conflict', row: null };
  // With its own mark the link has made the call twice, and the first one was done.
  return { status: found.mark === mark ? 'stored' : 'conflict', row: found.row };
}

async function listRecords({ link, sql }: Base, query: RowQuery): Promise<RowPage> {
  const { tenant, kind, limit, now } = query;
  const values = [tenant, kind, ...rangeOf(query), now, limit + 1];
  return pageOf(await link.query<RecordCells>(sql['record-list'], values), limit);
}

async function removeRecord(
  base: Base,
  key: RecordKey,
  expected: number | null,
  told: Told | null,
  now: number,
): Promise<RemoveAnswer> {
  const { tenant, kind, id } = key;
  const values = [tenant, kind, id, now, randomUUID(), expected];
  const removed = await telling(base, told, (to) => to.query(base.sql['record-remove'], values));
  if (removed.length > 0) return { status: 'removed' };
  const [found] = await find(base, [key], now);
  return found ? { status: 'conflict', version: found.row.version } : { status: 'absent' };
}
