import type { Job } from './job.ts';

export const PRIORITY_MIN = -100;
export const PRIORITY_MAX = 100;

const SEQ_DIGITS = 16;
const BANDS = Array.from({ length: PRIORITY_MAX - PRIORITY_MIN + 1 }, (_, band) => String(band).padStart(3, '0'));

/**
 * Nineteen decimal digits: higher priority first, then the enqueue sequence. Text order, byte order and number order
 * agree, and the number fits 64 bits, so every store may keep it in the type that it sorts fastest.
 */
export function rankOf(priority: number, seq: number): string {
  return BANDS[PRIORITY_MAX - priority]! + String(seq).padStart(SEQ_DIGITS, '0');
}

/** A job is claimable when it is available and, if it obeys a limit, holds a slot of it; else it is parked. */
export function rankFor(job: Pick<Job, 'state' | 'priority' | 'seq' | 'limitKey' | 'holdsSlot'>): string | null {
  if (job.state !== 'available') return null;
  if (job.limitKey !== null && !job.holdsSlot) return null;
  return rankOf(job.priority, job.seq);
}

/** Sequence numbers per millisecond; the rest of the number is time. */
const SEQ_PER_MS = 1000;

/** No row waits for a later moment: the sequence number made from it would not fit a safe integer. */
export const LATEST_MOMENT = Date.UTC(2250, 0, 1);

/** A moment that a row may wait for, whatever arithmetic it comes from: not before now, and never NaN. */
export const boundedMoment = (moment: number, now: number): number =>
  moment > now ? Math.min(moment, LATEST_MOMENT) : now;

/**
 * Where a job stands that becomes available at a planned time: by that time, keeping its old place among those due in
 * the same millisecond. Pure, so that every server computes the same rank.
 */
export const seqAt = (time: number, seq: number): number => time * SEQ_PER_MS + (seq % SEQ_PER_MS);

/** Strictly increasing within a process and close to time order between processes. */
export function sequence(): (now: number) => number {
  let last = 0;
  return (now) => {
    last = Math.max(last + 1, now * SEQ_PER_MS);
    return last;
  };
}
