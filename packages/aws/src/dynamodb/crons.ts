import {
  type CronRecord,
  type FireAnswer,
  type FireRequest,
  type JsonObject,
  type MisfirePolicy,
  type OverlapPolicy,
  storedBy,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, type Condition, equals } from './conditions.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { clearStaged } from './finish-batch.ts';
import { readGroup } from './group-view.ts';
import { inserted, refusal } from './insert-group.ts';
import { planGroup } from './insert-plan.ts';
import { type Item, number, present, text } from './items.ts';
import { cronKey, jobKey, partsOfKey, tenantPk } from './keys.ts';
import { linesOf, type MarkedGroup, openLog } from './marked-group.ts';
import { writeSides } from './row-writes.ts';
import { alarmAt } from './rows.ts';
import type { Settings } from './settings.ts';
import type { Write } from './writes.ts';

function cronItem(cron: CronRecord, settings: Settings): Item {
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

const asRead = (item: Item | undefined): Condition =>
  all(equals('vr', item?.['vr'] ?? null), equals('nx', item?.['nx'] ?? null), equals('rn', item?.['rn'] ?? null));

/** The last job stays known too: overlap is about the job before, whichever schedule made it. */
const historyOf = ({ createdAt, runs, lastAt, lastJobId }: CronRecord) => ({ createdAt, runs, lastAt, lastJobId });

export async function putCron(base: Base, cron: CronRecord): Promise<CronRecord> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const item = await base.db.get(cronKey(cron.tenant, cron.name));
    const before = item && cronOf(item);
    const version = before ? Math.max(cron.version, before.version + 1) : cron.version;
    const after = before ? { ...cron, ...historyOf(before), version } : cron;
    if (await base.db.writeOnce({ put: cronItem(after, base.settings), if: asRead(item) })) return after;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${cron.name}`);
}

export async function getCron({ db }: Base, tenant: string, name: string): Promise<CronRecord | null> {
  const item = await db.get(cronKey(tenant, name));
  return item ? cronOf(item) : null;
}

export async function listCrons({ db }: Base, tenant: string): Promise<CronRecord[]> {
  const items = await db.queryAll({ where: all(equals('pk', tenantPk(tenant)), begins('sk', 'C#')) });
  return items.map(cronOf).sort((a, b) => (a.name < b.name ? -1 : 1));
}

export async function removeCron(base: Base, tenant: string, name: string): Promise<CronRecord | null> {
  for (let round = 0; round < MOST_TRIES; round++) {
    const item = await base.db.get(cronKey(tenant, name));
    if (!item) return null;
    if ((await base.db.write({ delete: cronKey(tenant, name), if: asRead(item) })).ok) return cronOf(item);
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${name}`);
}

/** The cron moves on and its job comes in one transaction. */
export async function fireCron(base: Base, request: FireRequest): Promise<FireAnswer> {
  const { job } = request;
  const groups = job ? [{ jobs: [job] }] : [];
  const { marked, segments, loseAll } = await openLog(base, groups);
  const answer = await base.locks.run([`cron ${request.tenant} ${request.name}`, ...groups.flatMap(linesOf)], () =>
    fireTogether(base, request, marked[0]),
  );
  if (marked[0] && (answer.status === 'lost' || answer.jobs.length === 0)) loseAll(0);
  await segments.confirm();
  return answer;
}

async function fireTogether(base: Base, request: FireRequest, group?: MarkedGroup): Promise<FireAnswer> {
  const { tenant, name, expected, nextAt, tick } = request;
  for (let round = 0; round < MOST_TRIES; round++) {
    const item = await base.db.get(cronKey(tenant, name));
    const cron = item && cronOf(item);
    if (!cron || cron.version !== expected.version || cron.nextAt !== expected.nextAt) return { status: 'lost' };
    const view = group && (await readGroup(base, group));
    const refused = group && view ? await refusal(base, group, view) : null;
    const plan = group && view && !refused ? await planGroup(base, group, view) : null;
    // A job that another one keeps out leaves no row; the tick has been dealt with all the same.
    const isThere = plan !== null || refused?.status === 'exists';
    const made = isThere && group ? { lastJobId: group.jobs[0]!.job.id, runs: cron.runs + 1 } : {};
    const after = { ...cron, nextAt, lastAt: tick, ...made };
    const move: Write = { put: cronItem(after, base.settings), if: asRead(item) };
    await writeSides(base, plan?.sides ?? []);
    group?.segments.assertFresh();
    if (await base.db.transact([move, ...(plan?.writes ?? [])])) {
      const stored = plan ? [await inserted(base, plan)] : [];
      for (const { jobs } of stored) base.wakes.jobs(jobs);
      return { status: 'fired', ...storedBy(stored) };
    }
    await group?.segments.assertUnsettled();
    if (group)
      await clearStaged(
        base,
        group.jobs.map(({ job }) => jobKey(job.tenant, job.id)),
      );
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The cron ${name}`);
}
