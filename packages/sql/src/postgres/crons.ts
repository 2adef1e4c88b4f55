import {
  type CronRecord,
  type CronStore,
  type FireAnswer,
  type FireRequest,
  type JsonObject,
  type MisfirePolicy,
  type OverlapPolicy,
  storedBy,
} from '@waybill/core';
import { type Base, despiteRivals } from './base.ts';
import { insertInside } from './insert-guarded.ts';
import { keyOf } from './keys.ts';
import { telling, tellingOnce } from './subjects.ts';

/** A row of the table `crons`, column by column. */
export type CronCells = [
  tenant: string,
  name: string,
  expression: string,
  timezone: string,
  overlap: string,
  misfire: string,
  catchUpLimit: number,
  enabled: boolean,
  description: string | null,
  template: string,
  nextAt: number | null,
  lastAt: number | null,
  lastJobId: string | null,
  runs: number,
  createdAt: number,
  version: number,
];

export function cronOf(cells: CronCells): CronRecord {
  return {
    tenant: cells[0],
    name: cells[1],
    expression: cells[2],
    timezone: cells[3],
    overlap: cells[4] as OverlapPolicy,
    misfire: cells[5] as MisfirePolicy,
    catchUpLimit: cells[6],
    enabled: cells[7],
    description: cells[8],
    template: JSON.parse(cells[9]) as JsonObject,
    nextAt: cells[10],
    lastAt: cells[11],
    lastJobId: cells[12],
    runs: cells[13],
    createdAt: cells[14],
    version: cells[15],
  };
}

export const cronStore = (base: Base): CronStore => {
  const { link, sql } = base;
  const one = ([found]: CronCells[]): CronRecord | null => (found ? cronOf(found) : null);
  return {
    put: async (cron, told) =>
      one(await telling(base, told, (to) => to.query<CronCells>(sql['cron-put'], cellsOf(cron))))!,
    enable: async ({ tenant, name, expected, enabled, nextAt }, told) =>
      one(
        await telling(base, told, (to) =>
          to.query<CronCells>(sql['cron-enable'], [tenant, name, expected, enabled, nextAt]),
        ),
      ),
    get: async (tenant, name) => one(await link.query<CronCells>(sql['cron-get'], [tenant, name])),
    list: async (tenant) => (await link.query<CronCells>(sql['cron-list'], [tenant])).map(cronOf),
    remove: async (tenant, name, told) =>
      one(await telling(base, told, (to) => to.query<CronCells>(sql['cron-remove'], [tenant, name]))),
    fire: (request) => fire(base, request),
  };
};

function cellsOf(cron: CronRecord): CronCells {
  const { tenant, name, expression, timezone, overlap, misfire, catchUpLimit, enabled, description } = cron;
  const { template, nextAt, lastAt, lastJobId, runs, createdAt, version } = cron;
  return [
    tenant,
    name,
    expression,
    timezone,
    overlap,
    misfire,
    catchUpLimit,
    enabled,
    description,
    JSON.stringify(template),
    nextAt,
    lastAt,
    lastJobId,
    runs,
    createdAt,
    version,
  ];
}

async function fire(base: Base, request: FireRequest): Promise<FireAnswer> {
  const { tenant, name, expected, nextAt, tick, job, told } = request;
  const { bell, knownQueues, sql } = base;
  const inTransaction = tellingOnce(base);
  const fired = await despiteRivals(() =>
    inTransaction(async (tx, tell) => {
      const [cells] = await tx.query<CronCells>(sql['cron-lock'], [tenant, name]);
      const cron = cells && cronOf(cells);
      if (!cron || cron.version !== expected.version || cron.nextAt !== expected.nextAt) return null;
      const [answer] = job ? await insertInside(base, tx, [{ jobs: [job] }]) : [];
      // A job that another one keeps out leaves no row; the tick has been dealt with all the same.
      const isThere = answer?.status === 'inserted' || answer?.status === 'exists';
      await tx.query(sql['cron-move'], [tenant, name, nextAt, tick, isThere ? job!.job.id : null]);
      if (told && (!answer || answer.status === 'inserted')) await tell([told]);
      return storedBy(answer ? [answer] : []);
    }),
  );
  if (fired === null) return { status: 'lost' };
  for (const { tenant, queue } of fired.jobs) knownQueues.add(keyOf(tenant, queue));
  bell.ready(fired.jobs);
  return { status: 'fired', ...fired };
}
