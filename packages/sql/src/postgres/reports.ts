import {
  fenceAdmits,
  type Job,
  type JobEvent,
  type JobKey,
  type JsonObject,
  type Progress,
  progressAfter,
  type ReportAnswer,
  type ReportRequest,
  type ReportStore,
} from '@waybill/core';
import { encodeEvent, newestAt } from '../event-codec.ts';
import { jsonLines, plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { get } from './get.ts';
import { keyOf } from './keys.ts';
import type { Queryable } from './link/link.ts';
import { isId } from './rows.ts';

export const reportStore = (base: Base): ReportStore => ({
  add: (requests) => base.link.transaction((tx) => addReports(base, tx, requests)),
  get: (keys) => getProgress(base, base.link, keys),
});

/** The jobs are locked, so that their runs go on meanwhile and their reports follow each other. */
async function addReports(base: Base, tx: Queryable, requests: readonly ReportRequest[]): Promise<ReportAnswer[]> {
  const keys = [...new Map(requests.map(({ tenant, id }) => [keyOf(tenant, id), { tenant, id }])).values()];
  const known = keys.filter(({ id }) => isId(id));
  for (const [tenant, of] of Map.groupBy(known, ({ tenant }) => tenant)) {
    await tx.query(base.sql['jobs-lock'], [tenant, plainArray(of.map(({ id }) => id))]);
  }
  const jobs = byKey(known, await get(base, known, tx));
  const progress = byKey(known, await getProgress(base, tx, known));
  const events: JobEvent[] = [];
  const answers = requests.map(({ tenant, id, by, report, now }): ReportAnswer => {
    const key = keyOf(tenant, id);
    const job: Job | null = jobs.get(key) ?? null;
    if (job === null || !fenceAdmits(job, by)) return { status: 'lost' };
    const before = progress.get(key) ?? null;
    const after = progressAfter(job, before, report, now);
    if (after === null) return { status: 'noted', repeated: true, progress: before! };
    progress.set(key, after.progress);
    events.push(after.event);
    return { status: 'noted', repeated: false, progress: after.progress };
  });
  const told = new Set(events.map(({ tenant, jobId }) => keyOf(tenant, jobId)));
  await write(
    base,
    tx,
    [...told].map((key) => progress.get(key)!),
    events,
  );
  return answers;
}

function byKey<T>(keys: readonly JobKey[], values: readonly (T | null)[]): Map<string, T | null> {
  return new Map(keys.map(({ tenant, id }, index) => [keyOf(tenant, id), values[index] ?? null]));
}

async function write(base: Base, tx: Queryable, all: readonly Progress[], events: readonly JobEvent[]): Promise<void> {
  if (all.length === 0) return;
  await tx.query(base.sql['progress-put'], [
    textArray(all.map(({ tenant }) => tenant)),
    plainArray(all.map(({ id }) => id)),
    plainArray(all.map(({ run }) => run)),
    plainArray(all.map(({ number }) => number)),
    plainArray(all.map(({ sequence }) => sequence)),
    plainArray(all.map(({ fraction }) => fraction)),
    jsonLines(all, ({ data }) => data && JSON.stringify(data)),
    jsonLines(all, ({ checkpoint }) => checkpoint && JSON.stringify(checkpoint)),
    plainArray(all.map(({ at }) => at)),
  ]);
  const body = `[${events.map(encodeEvent).join(',')}]`;
  await tx.query(base.sql['segment-append'], [newestAt([{ events }]), events.length, body]);
}

type Cells = [string, string, number, number, number, number | null, string | null, string | null, number];

async function getProgress(base: Base, from: Queryable, keys: readonly JobKey[]): Promise<(Progress | null)[]> {
  const known = keys.filter(({ id }) => isId(id));
  if (known.length === 0) return keys.map(() => null);
  const cells = [textArray(known.map(({ tenant }) => tenant)), plainArray(known.map(({ id }) => id))];
  const rows = await from.query<Cells>(base.sql['progress-get'], cells);
  const found = new Map(rows.map((row) => [keyOf(row[0], row[1]), progressOf(row)]));
  return keys.map(({ tenant, id }) => found.get(keyOf(tenant, id)) ?? null);
}

function progressOf([tenant, id, run, number, sequence, fraction, data, checkpoint, at]: Cells): Progress {
  return { tenant, id, run, number, sequence, fraction, data: parse(data), checkpoint: parse(checkpoint), at };
}

const parse = (json: string | null): JsonObject | null => (json === null ? null : (JSON.parse(json) as JsonObject));
