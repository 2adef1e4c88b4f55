import { WaybillError } from './errors.ts';

const PATTERN =
  /^P(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

const UNITS_MS = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000];

/** Milliseconds of an ISO 8601 duration; undefined when it is none. Years and months are refused: their length varies. */
export function parseDuration(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (!match || text.endsWith('P') || text.endsWith('T')) return undefined;
  const parts = match.slice(1);
  return Math.round(parts.reduce((sum, part, unit) => sum + Number(part ?? 0) * UNITS_MS[unit]!, 0));
}

/** For durations that were validated when they came in. */
export function readDuration(text: string): number {
  const ms = parseDuration(text);
  if (ms === undefined) throw new WaybillError('internal', `'${text}' is stored as a duration but is none.`);
  return ms;
}

/** The ISO 8601 duration of so many milliseconds. */
export const formatDuration = (ms: number): string => `PT${ms / 1_000}S`;
