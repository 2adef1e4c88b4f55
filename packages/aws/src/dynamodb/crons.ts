import {
  type CronRecord,
  cronReplacing,
  type EnableRequest,
  type JsonObject,
  type MisfirePolicy,
  type OverlapPolicy,
  type Told,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, type Condition, equals } from './conditions.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { type Item, number, present, text } from './items.ts';
import { cronKey, partsOfKey, tenantPk } from './keys.ts';
import { alarmAt } from './rows.ts';
import type { Settings } from './settings.ts';
import { type Planned, writeAndTell } from './tell.ts';
import type { Write } from './writes.ts';

export function cronItem(cron: CronRecord, settings: Settings): Item {
  return present({
    ...cronKey(cron.tenant, cron.name),
    ex: cron.expression,
    tz: cron.timezone,
    ov: cron.overlap,
    mi: cron.misfire,
    cl: cron.catchUpLimit,
    en: cron.enabled,
    ds: cron.description,
    te: JSON.stringify(cron.template),
    nx: cron.nextAt,
    la: cron.lastAt,
    lj: cron.lastJobId,
    rn: cron.runs,
    cr: cron.createdAt,
    vr: cron.version,
    ...(cron.enabled ? alarmAt(cron.nextAt, `${cron.tenant} ${cron.name}`, settings) : {}),
  });
}

export function cronOf(item: Item): CronRecord {
  const [tenant, name] = partsOfKey(item);
  return {
    tenant,
    name,
    expression: item['ex'] as string,
    timezone: item['tz'] as string,
    overlap: item['ov'] as OverlapPolicy,
    misfire: item['mi'] as MisfirePolicy,
    catchUpLimit: item['cl'] as number,
    enabled: 'en' in item,
    description: text(item, 'ds'),
    template: JSON.parse(item['te'] as string) as JsonObject,
    nextAt: number(item, 'nx'),
    lastAt: number(item, 'la'),
    lastJobId: text(item, 'lj'),
    runs: item['rn'] as number,
    createdAt: item['cr'] as number,
    version: item['vr'] as number,
  };
}

/** Whoever fires or changes it changes one of these. */
export const asRead = (item: Item | undefined): Condition =>
  all(equals('vr', item?.['vr'] ?? null), equals('nx', item?.['nx'] ?? null), equals('rn', item?.['rn'] ?? null));

export async function putCron(base: Base, cron: CronRecord, told?: Told): Promise<CronRecord> {
  if (told) return writeAndTell(base, told, () => planPut(base, cron));
  for (let round = 0; round < MOST_TRIES; round++) {
    const { answer, write } = await planPut(base, cron);
    if (await base.db.writeOnce(write)) return answer;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${cron.name}`);
}

async function planPut(base: Base, cron: CronRecord): Promise<{ answer: CronRecord; write: Write }> {
  const item = await base.db.get(cronKey(cron.tenant, cron.name));
  const after = item ? cronReplacing(cronOf(item), cron) : cron;
  return { answer: after, write: { put: cronItem(after, base.settings), if: asRead(item) } };
}

export async function enableCron(base: Base, request: EnableRequest, told?: Told): Promise<CronRecord | null> {
  if (told) return writeAndTell(base, told, () => planEnable(base, request));
  for (let round = 0; round < MOST_TRIES; round++) {
    const { answer, write } = await planEnable(base, request);
    if (write === null || (await base.db.writeOnce(write))) return answer;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${request.name}`);
}

async function planEnable(base: Base, request: EnableRequest): Promise<Planned<CronRecord | null>> {
  const { tenant, name, expected, enabled, nextAt } = request;
  const item = await base.db.get(cronKey(tenant, name));
  const before = item ? cronOf(item) : null;
  if (before === null || before.version !== expected) return { answer: null, write: null };
  const after = { ...before, enabled, nextAt, version: before.version + 1 };
  return { answer: after, write: { put: cronItem(after, base.settings), if: asRead(item) } };
}

export async function getCron({ db }: Base, tenant: string, name: string): Promise<CronRecord | null> {
  const item = await db.get(cronKey(tenant, name));
  return item ? cronOf(item) : null;
}

export async function listCrons({ db }: Base, tenant: string): Promise<CronRecord[]> {
  const items = await db.queryAll({ where: all(equals('pk', tenantPk(tenant)), begins('sk', 'C#')) });
  return items.map(cronOf).sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function removeCron(base: Base, tenant: string, name: string, told?: Told): Promise<CronRecord | null> {
  if (told) return writeAndTell(base, told, () => planRemove(base, tenant, name));
  for (let round = 0; round < MOST_TRIES; round++) {
    const { answer, write } = await planRemove(base, tenant, name);
    if (write === null || (await base.db.write(write)).ok) return answer;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${name}`);
}

async function planRemove(base: Base, tenant: string, name: string): Promise<Planned<CronRecord | null>> {
  const item = await base.db.get(cronKey(tenant, name));
  if (!item) return { answer: null, write: null };
  return { answer: cronOf(item), write: { delete: cronKey(tenant, name), if: asRead(item) } };
}
