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
    const expected = before?.version ?? 0;
    checkExpected(c, kind, expected);
    // By the very version that the fact is about, whatever the caller expects.
    const told = fact(before?.value ?? null, value);
    const record = await recordsOf(c).put({ kind, id, value, expected, ...(told && { fact: told }) });
    c.header('ETag', `"${record.version}"`);
    return answer(c, { [kind]: toWire(record) }, before ? 200 : 201);
  });

  app.delete(`${path}/:id`, async (c) => {
    const id = pathText(c, 'id');
    const record = await recordsOf(c).get(kind, id);
    checkExpected(c, kind, record.version);
    const told = fact(record.value, null);
    await recordsOf(c).remove(kind, id, { expected: record.version, ...(told && { fact: told }) });
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

/** Without `If-Match` whatever is there is changed. */
function checkExpected(c: Ctx, kind: string, version: number): void {
  const text = c.req.header('If-Match');
  if (text === undefined) return;
  const expected = /^"?(\d{1,15})"?$/.exec(text)?.[1];
  if (expected === undefined) throw invalidField('If-Match', 'must be the version of the record, as its ETag says.');
  if (Number(expected) === version) return;
  throw new WaybillError('conflict', `The ${kind} has been changed since it was read.`, {
    details: { version },
    hint: 'Read it again and repeat the change.',
  });
}

const toWire = ({ id, value, version, createdAt, updatedAt }: StoredRecord): JsonObject => ({
  ...value,
  ...{ id, version, created_at: toRfc3339(createdAt), updated_at: toRfc3339(updatedAt) },
});
