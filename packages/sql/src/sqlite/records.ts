import {
  EXPIRED_KEPT_MS,
  type RecordKey,
  type RecordRow,
  type RowPage,
  type RowPut,
  type RowPutAnswer,
} from '@waybill/core';
import { pageOf, type RecordCells, rangeOf, recordOf } from '../record-rows.ts';
import type { Input, Output } from './protocol.ts';
import type { Session } from './session.ts';

export const getRecords = (session: Session, { keys, now }: Input<'getRecords'>): (RecordRow | null)[] =>
  keys.map((key) => find(session, key, now));

function find({ sql }: Session, { tenant, kind, id }: RecordKey, now: number): RecordRow | null {
  const cells = sql['record-get'].get<RecordCells>(tenant, kind, id, now);
  return cells ? recordOf(cells) : null;
}

export const putRecords = (session: Session, { requests, now }: Input<'putRecords'>): RowPutAnswer[] =>
  requests.map((request) => {
    const cells = write(session, request, now);
    if (cells && request.told) session.tell(request.told);
    return cells
      ? { status: 'stored', row: recordOf(cells) }
      : { status: 'conflict', row: find(session, request, now) };
  });

function write({ sql }: Session, request: RowPut, now: number): RecordCells | undefined {
  const { tenant, kind, id, json, expiresAt, expected } = request;
  const cells = [tenant, kind, id, json, expiresAt, now];
  if (expected === 0) return sql['record-create'].get<RecordCells>(...cells);
  return sql['record-replace'].get<RecordCells>(...cells, expected);
}

export function listRecords({ sql }: Session, query: Input<'listRecords'>): RowPage {
  const { tenant, kind, limit, now } = query;
  return pageOf(sql['record-list'].all<RecordCells>(tenant, kind, ...rangeOf(query), now, limit + 1), limit);
}

export function removeRecord(session: Session, request: Input<'removeRecord'>): Output<'removeRecord'> {
  const { key, expected, told, now } = request;
  const { tenant, kind, id } = key;
  if (session.sql['record-remove'].run(tenant, kind, id, now, expected).changes !== 0) {
    if (told) session.tell(told);
    return { status: 'removed' };
  }
  const row = find(session, key, now);
  return row ? { status: 'conflict', version: row.version } : { status: 'absent' };
}

/** Rows that expired before this may go. */
export const expiredBefore = (now: number): number => now - EXPIRED_KEPT_MS;

export const pruneRecords = ({ sql }: Session, limit: number, now: number): number =>
  Number(sql['records-prune'].run(expiredBefore(now), limit).changes);
