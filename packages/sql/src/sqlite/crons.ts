import type { CronRecord, JsonObject, MisfirePolicy, OverlapPolicy } from '@waybill/core';
import { insertGroup } from './insert.ts';
import type { Input, Output } from './protocol.ts';
import { AT } from './rows.ts';
import type { Session } from './session.ts';

/** A row of the table `crons`, column by column. */
export type CronCells = [
  tenant: string,
  name: string,
  expression: string,
  timezone: string,
  overlap: string,
  misfire: string,
  catchUpLimit: number,
  enabled: number,
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
    enabled: cells[7] === 1,
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

export function putCron(session: Session, { cron, told }: Input<'putCron'>): CronRecord {
  const { tenant, name, expression, timezone, overlap, misfire, catchUpLimit, enabled, description } = cron;
  const { template, nextAt, lastAt, lastJobId, runs, createdAt, version } = cron;
  const said = [tenant, name, expression, timezone, overlap, misfire, catchUpLimit, Number(enabled), description];
  const done = [nextAt, lastAt, lastJobId, runs, createdAt, version];
  const stored = session.sql['cron-put'].get<CronCells>(...said, JSON.stringify(template), ...done)!;
  if (told) session.tell(told);
  return cronOf(stored);
}

export function enableCron(session: Session, { request, told }: Input<'enableCron'>): CronRecord | null {
  const { tenant, name, expected, enabled, nextAt } = request;
  const stored = session.sql['cron-enable'].get<CronCells>(tenant, name, expected, Number(enabled), nextAt);
  if (stored && told) session.tell(told);
  return stored ? cronOf(stored) : null;
}

export function getCron({ sql }: Session, { tenant, name }: Input<'getCron'>): CronRecord | null {
  const found = sql['cron-get'].get<CronCells>(tenant, name);
  return found ? cronOf(found) : null;
}

export function listCrons({ sql }: Session, tenant: string): CronRecord[] {
  return sql['cron-list'].all<CronCells>(tenant).map(cronOf);
}

export function removeCron(session: Session, { tenant, name, told }: Input<'removeCron'>): CronRecord | null {
  const removed = session.sql['cron-remove'].get<CronCells>(tenant, name);
  if (removed && told) session.tell(told);
  return removed ? cronOf(removed) : null;
}

export function fireCron(session: Session, { request, group, at, now }: Input<'fireCron'>): Output<'fireCron'> {
  const { tenant, name, expected, nextAt, tick, told } = request;
  const cron = getCron(session, { tenant, name });
  if (!cron || cron.version !== expected.version || cron.nextAt !== expected.nextAt) return null;
  const reply = group ? insertGroup(session, group, at, now) : null;
  // A job that another one keeps out leaves no row; the tick has been dealt with all the same.
  const isThere = reply?.status === 'inserted' || reply?.status === 'exists';
  session.sql['cron-move'].run(tenant, name, nextAt, tick, isThere ? group!.rows[0]![AT.id] : null);
  if (told && (reply === null || reply.status === 'inserted')) session.tell(told);
  return reply ? [reply] : [];
}
