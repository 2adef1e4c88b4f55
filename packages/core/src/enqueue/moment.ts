import type { Fields } from '../check.ts';
import { parseDuration } from '../duration.ts';
import { invalidField } from '../errors.ts';
import { LATEST_MOMENT } from '../job/rank.ts';
import { parseMoment } from '../moment.ts';

/** A point in time: RFC 3339, or `+PT2S` counted from now. Null when absent. */
export function readMoment(fields: Fields, key: string, now: number): number | null {
  const text = fields.string(key);
  if (text === undefined) return null;
  const moment = text.startsWith('+') ? relative(text.slice(1), now) : parseMoment(text);
  if (moment === undefined) {
    throw invalidField(fields.name(key), 'must be an RFC 3339 time like 2030-01-31T12:00:00Z, or +PT5M from now.');
  }
  if (moment < 0 || moment > LATEST_MOMENT)
    throw invalidField(fields.name(key), 'must lie between the years 1970 and 2250.');
  return moment;
}

function relative(duration: string, now: number): number | undefined {
  const ms = parseDuration(duration);
  return ms === undefined ? undefined : now + ms;
}
