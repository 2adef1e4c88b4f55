import {
  EXPIRED_KEPT_MS,
  isLive,
  nextVersion,
  type RecordKey,
  type RecordRow,
  type RecordTable,
  type RemoveAnswer,
  type RowPage,
  type RowPut,
  type RowPutAnswer,
  type RowQuery,
} from '@waybill/core';
import type { Base } from './base.ts';
import { absent, all, any, begins, type Condition, equals, exists, more } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { type Item, number, present } from './items.ts';
import { partsOf, recordKey, recordsPk } from './keys.ts';
import { secondsOf } from './rows.ts';
import { type Planned, writeAndTell } from './tell.ts';
import type { Write } from './writes.ts';

export const recordTable = (base: Base): RecordTable => ({
  get: async (keys, now) => {
    const items = await base.db.getAll(keys.map(recordKey));
    return items.map((item) => liveRow(item, now));
  },
  put: (requests, now) =>
    inParallel(requests, ({ told, ...put }) =>
      told ? writeAndTell(base, told, () => planPut(base, put, now)) : putRecord(base, put, now),
    ),
  list: (query) => listRecords(base, query),
  remove: (key, expected, told, now) =>
    told
      ? writeAndTell(base, told, () => planRemove(base, key, expected, now))
      : removeRecord(base, key, expected, now),
});

/** Without a value the record was removed. */
function liveRow(item: Item | undefined, now: number): RecordRow | null {
  if (!item || !('va' in item)) return null;
  const row = rowOf(item);
  return isLive(row, now) ? row : null;
}

function rowOf(item: Item): RecordRow {
  const [tenant, kind] = partsOf(item['pk'] as string) as [string, string];
  return {
    tenant,
    kind,
    id: item['sk'] as string,
    version: item['vr'] as number,
    json: item['va'] as string,
    createdAt: item['cr'] as number,
    updatedAt: item['up'] as number,
    expiresAt: number(item, 'xp'),
  };
}

function itemOf({ version, json, createdAt, updatedAt, expiresAt, ...key }: RecordRow): Item {
  const gone = expiresAt === null ? {} : { xp: expiresAt, x: goneAt(Math.max(expiresAt, version)) };
  return present({ ...recordKey(key), vr: version, va: json, cr: createdAt, up: updatedAt, ...gone });
}

/** DynamoDB may remove the item from then on. */
const goneAt = (moment: number): number => secondsOf(moment + EXPIRED_KEPT_MS);

const isAlive = (now: number): Condition => all(exists('va'), any(absent('xp'), more('xp', now)));

type Put = Omit<RowPut, 'told'>;

/** The item that is in the way tells what to do next: it is living, and a conflict, or it gives its version. */
async function putRecord(base: Base, request: Put, now: number): Promise<RowPutAnswer> {
  let known = request.expected === 0 ? undefined : await base.db.get(recordKey(request));
  for (let round = 0; round < MOST_TRIES; round++) {
    const { answer, write } = putOn(known, request, now);
    if (write === null) return answer;
    const written = await base.db.tryOnce(write);
    if (written.ok) return answer;
    known = written.old;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The ${request.kind} ${request.id}`);
}

const planPut = async (base: Base, request: Put, now: number): Promise<Planned<RowPutAnswer>> =>
  putOn(await base.db.get(recordKey(request)), request, now);

/** What a put makes of the item that is there. */
function putOn(known: Item | undefined, { expected, ...rest }: Put, now: number): Planned<RowPutAnswer> {
  const live = liveRow(known, now);
  if ((live?.version ?? 0) !== expected) return { answer: { status: 'conflict', row: live }, write: null };
  const before = (known?.['vr'] as number | undefined) ?? 0;
  const times = { createdAt: live?.createdAt ?? now, updatedAt: now };
  const row = { ...rest, version: nextVersion(before, now), ...times };
  return {
    answer: { status: 'stored', row },
    write: { put: itemOf(row), if: equals('vr', known?.['vr'] ?? null) },
  };
}

async function listRecords({ db }: Base, { tenant, kind, prefix, after, limit, now }: RowQuery): Promise<RowPage> {
  const pk = recordsPk(tenant, kind);
  const isOwn = equals('pk', pk);
  const found = await db.query({
    where: prefix === '' ? isOwn : all(isOwn, begins('sk', prefix)),
    limit,
    ...(after !== null && { after: { pk, sk: after } }),
  });
  const rows = found.items.map((item) => liveRow(item, now)).filter((row) => row !== null);
  return { rows, last: (found.last?.['sk'] as string | undefined) ?? null };
}

/** The item stays for its version until DynamoDB removes it. */
const removal = (key: RecordKey, expected: number | null, now: number): Write => ({
  update: recordKey(key),
  change: { set: { xp: now, x: goneAt(now) }, remove: ['va'] },
  if: expected === null ? isAlive(now) : all(isAlive(now), equals('vr', expected)),
});

const notRemoved = (live: RecordRow | null): RemoveAnswer =>
  live ? { status: 'conflict', version: live.version } : { status: 'absent' };

async function removeRecord(base: Base, key: RecordKey, expected: number | null, now: number): Promise<RemoveAnswer> {
  const written = await base.db.tryOnce(removal(key, expected, now));
  return written.ok ? { status: 'removed' } : notRemoved(liveRow(written.old, now));
}

async function planRemove(
  base: Base,
  key: RecordKey,
  expected: number | null,
  now: number,
): Promise<Planned<RemoveAnswer>> {
  const live = liveRow(await base.db.get(recordKey(key)), now);
  if (!live || (expected !== null && live.version !== expected)) return { answer: notRemoved(live), write: null };
  return { answer: { status: 'removed' }, write: removal(key, expected, now) };
}
