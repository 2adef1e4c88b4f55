import { Cron } from 'croner';
import { WaybillError } from '../errors.ts';

/** When a cron fires: five fields or a name like @daily, in a time zone of the IANA database. */
export interface Schedule {
  expression: string;
  timezone: string;
}

const NAMES = new Set(['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly']);
/** Abbreviations and offsets know nothing of daylight saving, so what they mean changes twice a year. */
const PLACE = /^(UTC|[A-Za-z_]+\/[A-Za-z0-9_+\-/]+)$/;

/**
 * The first moment after `after` at which the schedule fires. A local time that a clock change skips fires once, at the
 * end of the gap; one that comes twice fires at its first coming. Null: it never fires again.
 */
export function nextTick(schedule: Schedule, after: number): number | null {
  return cronOf(schedule).nextRun(new Date(after))?.getTime() ?? null;
}

/** The newest ticks up to and including `until`, oldest first. */
export function ticksUpTo(schedule: Schedule, until: number, count: number): number[] {
  const ticks = cronOf(schedule).previousRuns(count + 1, new Date(until + 1_000));
  return ticks
    .map((tick) => tick.getTime())
    .filter((tick) => tick <= until)
    .slice(0, count)
    .reverse();
}

/** A paused one: it only computes. */
const cronOf = ({ expression, timezone }: Schedule): Cron =>
  new Cron(expression, { timezone, paused: true, ...(expression.startsWith('@') ? {} : { mode: '5-part' as const }) });

/** Refuses expressions and zones that mean nothing, and schedules that never fire. */
export function checkSchedule(schedule: Schedule, now: number): void {
  const { expression, timezone } = schedule;
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5 && !NAMES.has(expression)) {
    throw invalid(
      'expression',
      `must have five fields (minute hour day month weekday) or be one of ${[...NAMES].join(' ')}.`,
    );
  }
  if (!PLACE.test(timezone) || !isZone(timezone)) {
    throw invalid('timezone', 'must be a name of the IANA time zone database, like Europe/Berlin or UTC.');
  }
  if (tickOrRefuse(schedule, now) === null) throw invalid('expression', 'never fires: there is no such day.');
}

function tickOrRefuse(schedule: Schedule, now: number): number | null {
  try {
    return nextTick(schedule, now);
  } catch (error) {
    const why = (error instanceof Error ? error.message : '').replace(/^[A-Za-z]+: /, '');
    throw invalid('expression', `is not a cron expression: ${why}`);
  }
}

function isZone(timezone: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return true;
  } catch {
    return false;
  }
}

const invalid = (field: string, problem: string): WaybillError =>
  new WaybillError('validation_error', `'${field}' ${problem}`, { details: { field } });
