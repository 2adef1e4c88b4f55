/**
 * Starts counted over a sliding period, in tenths of it. A start counts until its whole tenth has left the period, so
 * that no stretch of one period ever holds more starts than allowed; a job may wait a tenth longer for it.
 */
export type Window = readonly (readonly [slice: number, starts: number])[];

const SLICES = 10;

const sliceMs = (periodMs: number): number => periodMs / SLICES;

const sliceOf = (now: number, periodMs: number): number => Math.floor(now / sliceMs(periodMs));

/**
 * The slices that still count. One that is more than a period ahead was counted before the clock was set back; if it
 * counted, its key would be shut until the clock is there again.
 */
const current = (window: Window, now: number, periodMs: number): Window => {
  const slice = sliceOf(now, periodMs);
  return window.filter(([other]) => other >= slice - SLICES && other <= slice + SLICES);
};

export const startsIn = (window: Window, now: number, periodMs: number): number =>
  current(window, now, periodMs).reduce((sum, [, starts]) => sum + starts, 0);

export function withStarts(window: Window, starts: number, now: number, periodMs: number): Window {
  if (starts === 0) return window;
  const slice = sliceOf(now, periodMs);
  const others = current(window, now, periodMs).filter(([other]) => other !== slice);
  const here = window.find(([other]) => other === slice)?.[1] ?? 0;
  return [...others, [slice, here + starts]];
}

/** What two have counted apart, as far as it still counts. */
export function joined(one: Window, other: Window, now: number, periodMs: number): Window {
  const sums = new Map<number, number>();
  for (const [slice, starts] of current([...one, ...other], now, periodMs)) {
    sums.set(slice, (sums.get(slice) ?? 0) + starts);
  }
  return [...sums];
}

/** When the oldest counted start leaves the period; null when none counts. */
export function nextLeaving(window: Window, now: number, periodMs: number): number | null {
  const slices = current(window, now, periodMs).map(([slice]) => slice);
  if (slices.length === 0) return null;
  return Math.ceil((Math.min(...slices) + SLICES + 1) * sliceMs(periodMs));
}
