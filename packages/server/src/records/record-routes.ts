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

/** Records of one page that are completed at a time by what is kept beside them. */
const SIDE_BY_SIDE = 20;

/** List, show, put and remove the records of a kind. `If-Match` with a version refuses what was changed meanwhile. */
export function recordRoutes(app: App, surface: Surface, one: RecordKind): void {
  const { kind, plural, fields, read, fact, shownOnce } = one;
  const { maxBodyBytes } = surface;
  const path = `/waybill/v1/${plural}`;
  const toWire = (c: Ctx, record: StoredRecord) => recordToWire(c, surface, one, record);

  app.get(path, async (c) => {
    const query = new Query(c, ['limit', 'cursor']);
    const page = query.page(DEFAULT_LIMIT);
    const { items, cursor } = await recordsOf(c).list({ kind, ...page });
    const shown: JsonObject[] = [];
    for (let first = 0; first < items.length; first += SIDE_BY_SIDE) {
      const some = items.slice(first, first + SIDE_BY_SIDE);
      shown.push(
        ...(await Promise.all(some.map((record) => recordToWire(c, surface, one, record, { isListed: true })))),
      );
    }
    return answer(c, { [plural]: shown, pagination: pagination(page.limit, cursor) });
  });

  app.get(`${path}/:id`, async (c) => {
    const record = await recordsOf(c).get(kind, pathText(c, 'id'));
    c.header('ETag', `"${record.version}"`);
    return answer(c, { [kind]: await toWire(c, record) });
  });

  app.put(`${path}/:id`, async (c) => {
    const id = pathText(c, 'id');
    c.set('meant', { action: `${plural}.change` });
    const body = await readBody(c, maxBodyBytes);
    body.refuseUnknown(fields);
    const before = await foundIn(recordsOf(c), kind, id);
    const value = read(body, { before: before?.value ?? null, surface });
    const expected = before?.version ?? 0;
    checkExpected(c, kind, expected);
    if (before === null) await checkRoom(recordsOf(c), one);
    // By the very version that the fact is about, whatever the caller expects.
    const told = fact(before?.value ?? null, value);
    const record = await recordsOf(c).put({ kind, id, value, expected, ...(told && { fact: told }) });
    c.header('ETag', `"${record.version}"`);
    const once = shownOnce?.(before?.value ?? null, value);
    return answer(c, { [kind]: await toWire(c, record), ...once }, before ? 200 : 201);
  });

  app.delete(`${path}/:id`, async (c) => {
    const id = pathText(c, 'id');
    c.set('meant', { action: `${plural}.remove` });
    const record = await recordsOf(c).get(kind, id);
    checkExpected(c, kind, record.version);
    const told = fact(record.value, null);
    const shown = await toWire(c, record);
    await recordsOf(c).remove(kind, id, { expected: record.version, ...(told && { fact: told }) });
    return answer(c, { [kind]: shown });
  });
}

export function recordsOf(c: Ctx): Records {
  const { records } = portOf(c);
  if (records) return records;
  throw new WaybillError('unsupported', 'This server stands before another one, which keeps the records.');
}

export async function foundIn(records: Records, kind: string, id: string): Promise<StoredRecord | null> {
  try {
    return await records.get(kind, id);
  } catch (error) {
    if (error instanceof WaybillError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Calls of the same moment may make a few more. */
export async function checkRoom(records: Records, { kind, plural, most }: RecordKind): Promise<void> {
  if (most === undefined) return;
  const { items } = await records.list({ kind, limit: most });
  if (items.length < most) return;
  throw new WaybillError('conflict', `There are ${most} ${plural} already, and a tenant may have no more.`, {
    details: { most },
    hint: `Remove a ${kind} that is not needed any more.`,
  });
}

/** Without `If-Match` whatever is there is changed. */
export function checkExpected(c: Ctx, kind: string, version: number): void {
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

/** A record as answers show it. */
export async function recordToWire(
  c: Ctx,
  surface: Surface,
  { shown, beside }: RecordKind,
  record: StoredRecord,
  { isListed = false } = {},
): Promise<JsonObject> {
  const { id, value, version, createdAt, updatedAt } = record;
  return {
    ...(shown ? shown(value) : value),
    ...(await beside?.(portOf(c), record, { isListed, surface })),
    ...{ id, version, created_at: toRfc3339(createdAt), updated_at: toRfc3339(updatedAt) },
  };
}
