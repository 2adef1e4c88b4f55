import type { Alarm, CheckName, Finding } from '../checks-port.ts';
import type { HealthSettings } from '../health-options.ts';
import type { StoreView } from './store-view.ts';
import type { TenantView } from './tenant-view.ts';

export interface CheckAnswer {
  findings: Omit<Finding, 'check'>[];
  /** There was more than one look may read: what was not found may be there all the same. */
  isCut?: boolean;
}

/** One kind of look. It reads a bounded part of the store and changes nothing. */
export interface TenantCheck {
  readonly name: CheckName;
  run(view: TenantView, settings: HealthSettings): Promise<CheckAnswer>;
}

/** The same for what is about no tenant. */
export interface StoreCheck {
  readonly name: CheckName;
  run(view: StoreView, settings: HealthSettings): Promise<CheckAnswer>;
}

/** A level is reached above it, never at it. */
export function alarmAt(value: number, { warning, critical }: { warning: number; critical: number }): Alarm | null {
  if (value > critical) return 'critical';
  return value > warning ? 'warning' : null;
}

export const alarmAfter = (ms: number, { warningMs, criticalMs }: { warningMs: number; criticalMs: number }) =>
  alarmAt(ms, { warning: warningMs, critical: criticalMs });

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;

/** How people say a length of time: in its largest unit, cut to a whole number. */
export function inWords(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? UNITS.at(-1)!;
  const count = Math.floor(ms / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
