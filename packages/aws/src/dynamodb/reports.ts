import {
  fenceAdmits,
  type JobEvent,
  type JobKey,
  type JsonObject,
  type Progress,
  progressAfter,
  type ReportAnswer,
  type ReportRequest,
} from '@waybill/core';
import type { Base } from './base.ts';
import { all, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { type Item, number, present, text } from './items.ts';
import { jobKey, partsOf, progressKey } from './keys.ts';
import { hasMark, unlessFenced, withMarks } from './marks.ts';
import { readRows } from './read.ts';
import { trimLater } from './row-writes.ts';
import { codeOf, fromItem, secondsOf } from './rows.ts';
import type { Settings } from './settings.ts';

function progressItem(progress: Progress, marks: readonly string[], { retention }: Settings): Item {
  const { tenant, id, run, number, sequence, fraction, data, checkpoint, at } = progress;
  return present({
    ...progressKey(tenant, id),
    rn: run,
    nr: number,
    sq: sequence,
    fr: fraction,
    da: data && JSON.stringify(data),
    ch: checkpoint && JSON.stringify(checkpoint),
    at,
    ev: marks,
    // Kept as long as any row is; each report begins the time anew.
    x: secondsOf(at + Math.max(retention.finishedMs, retention.deadMs)),
  });
}

/** And not only the fence of one that was never made. */
const isReport = (item: Item): boolean => 'sq' in item;

function progressOf(item: Item): Progress {
  const [tenant, id] = partsOf(item['pk'] as string) as [string, string];
  const json = (name: string): JsonObject | null => JSON.parse(text(item, name) ?? 'null') as JsonObject | null;
  const { rn, nr, sq, at } = item as Record<string, number>;
  return {
    ...{ tenant, id, run: rn!, number: nr!, sequence: sq!, at: at! },
    ...{ fraction: number(item, 'fr'), data: json('da'), checkpoint: json('ch') },
  };
}

/** Reports of one job are one write, however many come in a call. */
export async function addReports(base: Base, requests: readonly ReportRequest[]): Promise<ReportAnswer[]> {
  const answers = new Array<ReportAnswer>(requests.length);
  const places = Map.groupBy(requests.keys(), (index) =>
    JSON.stringify([requests[index]!.tenant, requests[index]!.id]),
  );
  await inParallel([...places.values()], async (own) => {
    const same = own.map((index) => requests[index]!);
    const { tenant, id } = same[0]!;
    const told = await base.locks.run([`job ${tenant} ${id}`], () => addToOne(base, tenant, id, same));
    for (const [place, index] of own.entries()) answers[index] = told[place]!;
  });
  return answers;
}

async function addToOne(
  base: Base,
  tenant: string,
  id: string,
  requests: readonly ReportRequest[],
): Promise<ReportAnswer[]> {
  const key = progressKey(tenant, id);
  for (let round = 0; round < MOST_TRIES; round++) {
    const [[row], item] = await Promise.all([readRows(base, [jobKey(tenant, id)]), base.db.get(key)]);
    const { answers, events, progress } = follow(row, item && isReport(item) ? progressOf(item) : null, requests);
    if (progress === null) return answers;
    const segments = await base.log.open([events]);
    const isSameRun = all(equals('st', codeOf('active')), equals('rn', row!['rn']!), equals('ck', row!['ck']!));
    const isAsRead = unlessFenced(segments.mark(0), equals('sq', item?.['sq'] ?? null));
    // Marks of earlier reports stay: the writer of one may have died before it confirmed its segment.
    const put = progressItem(progress, withMarks(item, [segments.mark(0)]), base.settings);
    segments.assertFresh();
    const isDone = await base.db.transact([
      { check: jobKey(tenant, id), if: isSameRun },
      { put, if: isAsRead },
    ]);
    if (!isDone && !hasMark(await base.db.get(key), segments.mark(0))) segments.lose(0);
    await segments.confirm();
    if (isDone) {
      trimLater(base, put);
      return answers;
    }
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The job ${id}`);
}

/** What the reports make of what was known, one after the other; null: there is nothing to write. */
function follow(row: Item | undefined, known: Progress | null, requests: readonly ReportRequest[]) {
  const job = row && fromItem({ sp: '{}', ...row });
  const events: JobEvent[] = [];
  let progress: Progress | null = null;
  const answers = requests.map(({ by, report, now }): ReportAnswer => {
    if (!job || !fenceAdmits(job, by)) return { status: 'lost' };
    const before = progress ?? known;
    const after = progressAfter(job, before, report, now);
    if (after === null) return { status: 'noted', repeated: true, progress: before! };
    progress = after.progress;
    events.push(after.event);
    return { status: 'noted', repeated: false, progress };
  });
  return { answers, events, progress: progress as Progress | null };
}

/** They go with the row, which may be hidden before DynamoDB removes it. */
export async function getProgress(base: Base, keys: readonly JobKey[]): Promise<(Progress | null)[]> {
  const items = await base.db.getAll(keys.map(({ tenant, id }) => progressKey(tenant, id)));
  const rows = await readRows(
    base,
    keys.map(({ tenant, id }) => jobKey(tenant, id)),
  );
  return items.map((item, index) => (item && isReport(item) && rows[index] ? progressOf(item) : null));
}
