import { fenceAdmits, type JsonObject, type Progress, progressAfter, type ReportAnswer } from '@waybill/core';
import { encodeEvent } from '../event-codec.ts';
import type { Input } from './protocol.ts';
import { headOf } from './rows.ts';
import type { Session } from './session.ts';

export function addReports(session: Session, requests: Input<'addReports'>): ReportAnswer[] {
  return requests.map(({ tenant, id, by, report, now }) => {
    const row = session.sql['job-by-id'].get(tenant, id);
    const job = row && headOf(row);
    if (!job || !fenceAdmits(job, by)) return { status: 'lost' };
    const known = read(session, tenant, id);
    const after = progressAfter(job, known, report, now);
    if (after === null) return { status: 'noted', repeated: true, progress: known! };
    write(session, after.progress);
    session.log([encodeEvent(after.event)], now);
    return { status: 'noted', repeated: false, progress: after.progress };
  });
}

export const getProgress = (session: Session, keys: Input<'getProgress'>): (Progress | null)[] =>
  keys.map(({ tenant, id }) => read(session, tenant, id));

type Cells = [number, number, number, number | null, string | null, string | null, number];

function read({ sql }: Session, tenant: string, id: string): Progress | null {
  const cells = sql['progress-get'].get<Cells>(tenant, id);
  if (cells === undefined) return null;
  const [run, number, sequence, fraction, data, checkpoint, at] = cells;
  return { tenant, id, run, number, sequence, fraction, data: parse(data), checkpoint: parse(checkpoint), at };
}

function write({ sql }: Session, progress: Progress): void {
  const { tenant, id, run, number, sequence, fraction, data, checkpoint, at } = progress;
  sql['progress-put'].run(tenant, id, run, number, sequence, fraction, text(data), text(checkpoint), at);
}

const parse = (json: string | null): JsonObject | null => (json === null ? null : (JSON.parse(json) as JsonObject));
const text = (value: JsonObject | null): string | null => (value === null ? null : JSON.stringify(value));
