import { toRfc3339 } from '@waybill/client';
import { invalidField, type JsonObject, type Records, type StoredRecord, WaybillError } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { pathText } from '../http/path-text.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { pagination } from '../ojs/pagination.ts';
import type { Surface } from '../surface.ts';
import type { RecordKind } from './record-kind.ts';

const DEFAULT_LIMIT = 100;

/** List, show, put and remove the records of a kind. `If-Match` with a version refuses what was changed meanwhile. */
export function recordRoutes(app: App, { maxBodyBytes }: Surface, one: RecordKind): void {
  const { kind, plural, fields, read, fact } = one;
  const path = `/waybill/v1/${plural}`;

  app.get(path, async (c) => {
    const query = new Query(c, ['limit', 'cursor']);
    const page = query.page(DEFAULT_LIMIT);
    const { items, cursor } = await recordsOf(c).list({ kind, ...page });
    return answer(c, { [plural]: items.map(toWire), pagination: pagination(page.limit, cursor) });
  });

  app.get(`${path}/:id`, async (c) => {
    const record = await recordsOf(c).get(kind, pathText(c, 'id'));
    c.header('ETag', `"${record.version}"`);
    return answer(c, { [kind]: toWire(record) });
  });

  app.put(`${path}/:id`, async (c) => {
    const id = pathText(c, 'id');
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(fields);
    const value = read(body);
    const before = await foundIn(recordsOf(c), kind, id);
    const expected = expectedBy(c) ?? before?.version ?? 0;
    const told = fact(before?.value ?? null, value);
    const record = await recordsOf(c).put({ kind, id, value, expected, ...(told && { fact: told }) });
    c.header('ETag', `"${record.version}"`);
    return answer(c, { [kind]: toWire(record) }, before ? 200 : 201);
  });

  app.delete(`${path}/:id`, async (c) => {
    const id = pathText(c, 'id');
    const expected = expectedBy(c);
    const record = await recordsOf(c).get(kind, id);
    const told = fact(record.value, null);
    await recordsOf(c).remove(kind, id, { expected: expected ?? record.version, ...(told && { fact: told }) });
    return answer(c, { [kind]: toWire(record) });
  });
}

function recordsOf(c: Ctx): Records {
  const { records } = portOf(c);
  if (records) return records;
  throw new WaybillError('unsupported', 'This server stands before another one, which keeps the records.');
}

async function foundIn(records: Records, kind: string, id: string): Promise<StoredRecord | null> {
  try {
    return await records.get(kind, id);
  } catch (error) {
    if (error instanceof WaybillError && error.code === 'not_found') return null;
    throw error;
  }
}

/** The version that the caller has read; undefined: whatever is there. */
function expectedBy(c: Ctx): number | undefined {
  const text = c.req.header('If-Match');
  if (text === undefined) return undefined;
  const version = /^"?(\d{1,15})"?$/.exec(text)?.[1];
  if (version === undefined) throw invalidField('If-Match', 'must be the version of the record, as its ETag says.');
  return Number(version);
}

const toWire = ({ id, value, version, createdAt, updatedAt }: StoredRecord): JsonObject => ({
  ...value,
  ...{ id, version, created_at: toRfc3339(createdAt), updated_at: toRfc3339(updatedAt) },
});
