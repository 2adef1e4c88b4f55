import { countedAs, isJobEvent, type LogEvent } from '@waybill/core';
import type { Base } from './base.ts';
import { absent, all, exists, lacks } from './conditions.ts';
import { inParallel } from './database.ts';
import { decodeEntries } from './event-codec.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import { clearStaged } from './finish-batch.ts';
import { type Item, type Key, text } from './items.ts';
import { jobKey, progressKey, segmentKey, subjectKey } from './keys.ts';
import { confirmation, EMPTY_BODY } from './log-writer.ts';
import { FENCE, hasMark, isBelow, isFenced, markOf, positionOf } from './marks.ts';
import { secondsOf } from './rows.ts';

const DAY_MS = 86_400_000;
const PROGRESS_SOURCE = 'worker';

/** The places of a segment whose events are not true. */
export const lostIn = (confirmed: Item): Set<number> =>
  new Set((text(confirmed, 'no') ?? '').split(' ').filter(Boolean).map(Number));

/** Decides about a segment whose writer is silent: what has its mark in the row is true, and the rest never will be. */
export async function settleOrphan(
  base: Base,
  position: number,
  entries: LogEvent[][],
  x: number,
): Promise<Set<number>> {
  const rows = await base.db.getAll(entries.map(([first]) => markedBy(first!)));
  const isTrue = await inParallel(entries, async ([first], place) => {
    const mark = markOf(position, place);
    return hasMark(rows[place], mark) || !(await fence(base, markedBy(first!), mark));
  });
  const lost = isTrue.flatMap((is, place) => (is ? [] : [place]));
  const written = await base.db.write(confirmation(position, lost, x));
  base.settings.logger.warn({ position, lost: lost.length }, 'A segment of the log had lost its writer.');
  return written.ok || !written.old ? new Set(lost) : lostIn(written.old);
}

/** The same, if the time for it has come. Answers whether the segment is settled now. */
export async function settleIfOrphaned(base: Base, position: number, segment: Item): Promise<boolean> {
  if (!base.orphans.isOrphaned(position, segment['at'] as number)) return false;
  await settleOrphan(base, position, decodeEntries(segment['b'] as string), segment['x'] as number);
  base.orphans.forget(position);
  return true;
}

/**
 * The item that the change of these events writes its mark into. What a run reports of itself does not touch its row, and
 * an event of a subject may be told by the change of a job.
 */
function markedBy(event: LogEvent): Key {
  const { source, tenant, jobId } = event;
  if (!isJobEvent(event)) return jobId === undefined ? subjectKey(countedAs(event)) : jobKey(tenant, jobId);
  return source === PROGRESS_SOURCE ? progressKey(tenant, event.jobId) : jobKey(tenant, event.jobId);
}

/** Makes sure that the change of a mark never happens. Answers false when it has happened. */
export async function fence(base: Base, key: Key, mark: string): Promise<boolean> {
  const position = positionOf(mark)!;
  const condition = all(exists('ev'), lacks('ev', mark), isBelow(position));
  for (let round = 0; round < MOST_TRIES; round++) {
    const fenced = await base.db.write({ update: key, change: { set: { [FENCE]: position } }, if: condition });
    if (fenced.ok) return true;
    // First of all: a fence of a later position may have come after the change.
    if (hasMark(fenced.old, mark)) return false;
    if (isFenced(fenced.old, mark)) return true;
    if (!fenced.old) {
      // In the place of a row that was not made stands one that has expired: nobody sees it, and any later insert may
      // take the place. Expired since a day, so that clocks do not matter.
      const x = secondsOf(base.settings.clock.now() - DAY_MS);
      if ((await base.db.write({ put: { ...key, [FENCE]: position, ev: [], x }, if: absent() })).ok) return true;
    } else await clearStaged(base, [key]);
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The item ${key.pk}`);
}

/** Takes a position that was drawn and not used, so that its writer must draw another one. False: it was used after all. */
export async function closePosition(base: Base, position: number): Promise<boolean> {
  const now = base.settings.clock.now();
  const x = secondsOf(now + base.settings.retention.eventsMs);
  const { ok, ...answer } = await base.db.write({
    put: { ...segmentKey(position), at: now, b: EMPTY_BODY, x },
    if: absent(),
  });
  return ok || ('old' in answer && answer.old?.['b'] === EMPTY_BODY);
}
