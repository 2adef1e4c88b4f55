import {
  apart,
  type DueAnswer,
  type DueQuery,
  type Job,
  readEach,
  type UnreadableRow,
  WaybillError,
} from '@waybill/core';
import { type WorkflowCells, workflowOf } from '../workflow-rows.ts';
import type { Base } from './base.ts';
import { type CronCells, cronOf } from './crons.ts';
import { LimitBook, type LimitName } from './limit-book.ts';
import { fromRow, type Row } from './rows.ts';

/** Every process asks each second, and hardly ever is anything due: then one look at the first moments is all. */
export async function due(base: Base, query: DueQuery): Promise<DueAnswer> {
  const [row] = await base.link.query<[number | null]>(base.sql['due-at']);
  const [nextAt] = row!;
  if (nextAt !== null && nextAt <= query.now) return allDue(base, query);
  return { jobs: [], crons: [], workflows: [], admitted: [], unreadable: [], nextAt };
}

/** First lets in what a rate held up and opens bundles that are over, so that all is answered as it is then. */
async function allDue(base: Base, { now, limit }: DueQuery): Promise<DueAnswer> {
  const { link, sql } = base;
  const admitted = await admitDue(base, now, limit);
  await link.query(sql['bundles-due'], [now, limit]);
  const rows = await link.query<Row>(sql.due, [now, limit]);
  const crons = await link.query<CronCells>(sql['crons-due'], [now, limit]);
  const flows = await link.query<WorkflowCells>(sql['workflows-due'], [now, limit]);
  const given = [rows.length, crons.length, flows.length];
  const [moments] = await link.query<(number | null)[]>(sql['due-after'], given);
  const later = moments!.filter((moment) => moment !== null);
  const nextAt = later.length === 0 ? null : Math.min(...later);
  const jobs = readEach(rows, fromRow, ([tenant, id]) => ({ kind: 'job', tenant, id }));
  const ticks = readEach(crons, cronOf, ([tenant, name]) => ({ kind: 'cron', tenant, id: name }));
  const workflows = readEach(flows, workflowOf, ([tenant, id]) => ({ kind: 'workflow', tenant, id }));
  const unreadable = [admitted, jobs, ticks, workflows].flatMap((some): UnreadableRow[] => some.unreadable);
  const found = { jobs: jobs.read, crons: ticks.read, workflows: workflows.read };
  return { ...found, admitted: admitted.jobs, unreadable, nextAt };
}

interface Admission {
  jobs: Job[];
  unreadable: UnreadableRow[];
}

/** All at once; when one of the limits is damaged, each by itself. */
async function admitDue(base: Base, now: number, most: number): Promise<Admission> {
  const found = await base.link.query<[string, string]>(base.sql['limits-due'], [now, most]);
  const names = found.map(([tenant, key]) => ({ tenant, key }));
  const admission: Admission = { jobs: [], unreadable: [] };
  await apart(
    names,
    async (some) => {
      admission.jobs.push(...(await admitSome(base, now, some)));
    },
    {
      isShared: (error) => {
        if (error instanceof WaybillError && error.retryable) throw error;
        return false;
      },
      onFailed: ({ tenant, key }, cause) => admission.unreadable.push({ kind: 'limit', tenant, id: key, cause }),
    },
  );
  base.bell.ready(admission.jobs);
  return admission;
}

function admitSome(base: Base, now: number, names: readonly LimitName[]): Promise<Job[]> {
  return base.link.transaction(async (tx) => {
    const book = await LimitBook.lock(base, tx, names, now);
    const jobs: Job[] = [];
    for (const { tenant, key } of names) jobs.push(...(await book.admit(tenant, key)));
    await book.write();
    return jobs;
  });
}
