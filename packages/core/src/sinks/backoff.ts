import { chanceOf } from '../job/jitter.ts';

const FIRST_MS = 1_000;
/** Between two tries of one event. */
export const LONGEST_BACKOFF_MS = 600_000;

/** Before the try after this many failed ones: doubled each time, up to a cap, and between half and all of that. */
export function backoffMs(id: string, failures: number, mostMs: number): number {
  const whole = Math.min(mostMs, FIRST_MS * 2 ** Math.min(failures - 1, 30));
  return Math.round(whole * (0.5 + chanceOf(id, failures) / 2));
}
