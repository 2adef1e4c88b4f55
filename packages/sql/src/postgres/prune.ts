import { EXPIRED_KEPT_MS, type PruneAnswer, type PruneRequest, PruneSlice, WaybillError } from '@waybill/core';
import { plainArray } from './arrays.ts';
import type { Base } from './base.ts';
import { dropJournalDays } from './journal-days.ts';
import type { OldDays } from './old-days.ts';
import { pruneUnused } from './prune-unused.ts';

/** Whoever repeats a claim does so long before. */
const CLAIMS_KEPT_MS = 10 * 60_000;

/**
 * Days whose jobs have all expired are dropped as a whole, and so are those of which little is left. Jobs that others of
 * their day outlive are removed one by one, but only `lagMs` later: by then most days are gone, and nothing was written for
 * their jobs. So are batches of journals.
 */
export async function prune(base: Base, oldDays: OldDays, request: PruneRequest, lagMs: number): Promise<PruneAnswer> {
  const { link, sql } = base;
  const { finishedBefore, deadBefore, eventsBefore, journalBefore, unusedBefore, limit } = request;
  // A server that does not answer fails every part; so does a store that is closed.
  const slice = new PruneSlice(limit, (error) => error instanceof WaybillError && error.retryable);
  const dropped = await oldDays.drop(request);
  const late = [finishedBefore - lagMs, deadBefore - lagMs] as const;
  const expiredBefore = link.clock.now() - EXPIRED_KEPT_MS;
  const removed = await slice.takeLater('jobs', async (left) => {
    const [row] = await link.query<[number]>(sql['prune-jobs'], [...late, left]);
    return row![0];
  });
  let journal = 0;
  await slice.takeLater('journals', async (left) => {
    journal = await dropJournalDays(link, journalBefore);
    if (journalBefore === undefined) return 0;
    const [row] = await link.query<[number]>(sql['prune-journal'], [journalBefore - lagMs, left]);
    journal += row![0];
    return row![0];
  });
  await slice.takeLater('workflows', async (left) => {
    return (await link.query(sql['prune-workflows'], [finishedBefore, left])).length;
  });
  await slice.takeLater('records', async (left) => {
    return (await link.query(sql['records-prune'], [expiredBefore, left])).length;
  });
  const events = await slice.takeLater('events', (left) => pruneEvents(base, eventsBefore, left));
  await slice.takeLater('claims', async () => {
    await link.query(sql['claims-forget'], [link.clock.now() - CLAIMS_KEPT_MS]);
    return 0;
  });
  if (unusedBefore !== undefined) await pruneUnused(base, slice, unusedBefore, Math.min(unusedBefore, eventsBefore));
  const bounds = [...late, eventsBefore, finishedBefore, expiredBefore, link.clock.now()];
  const [left] = await link.query<[boolean]>(sql['prune-left'], bounds);
  const isCutShort = (unusedBefore !== undefined || journalBefore !== undefined) && slice.isFull;
  const more = left![0] || isCutShort;
  return { jobs: dropped + removed, events, ...(journal > 0 && { journal }), more, ...slice.failed };
}

/** Removes whole segments, and from the last one only what the limit allows. */
function pruneEvents({ link, sql }: Base, before: number, limit: number): Promise<number> {
  return link.transaction(async (tx) => {
    // One at a time, since each goes on where the last one stopped.
    await tx.query(sql['log-lock']);
    const old = await tx.query<[number, number, number]>(sql['segments-old'], [before, limit, link.clock.now()]);
    let removed = 0;
    const whole: number[] = [];
    for (const [seq, first, count] of old) {
      const left = count - first;
      if (removed + left > limit) {
        if (limit > removed) await tx.query(sql['segment-shorten'], [seq, limit - removed]);
        removed = limit;
        break;
      }
      removed += left;
      whole.push(seq);
    }
    if (whole.length > 0) await tx.query(sql['segments-remove'], [plainArray(whole)]);
    return removed;
  });
}
