import { Fields } from '../check.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { RecordKey } from '../store/records.ts';
import { BUDGET_PERIODS, type Budget, type BudgetPeriod } from './budgets-port.ts';

const UNIT = /^[a-z][a-z0-9_-]{0,31}$/;
/** As a part of the id of a record. */
const MAX_KEY_BYTES = 256;
const PRINTABLE = /^[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}]+$/u;
/** Up to there a sum of whole amounts is exact, and no fraction is written with an exponent. */
const MOST = 1e15;
/** Units of one call. */
const MOST_UNITS = 8;

type Subject = Omit<Budget, 'limit'>;

export function checkBudget(given: unknown): Budget {
  const fields = new Fields(given, 'budget');
  fields.refuseUnknown(['key', 'unit', 'period', 'limit']);
  const unit = checkUnit(fields.requiredString('unit'), 'unit');
  const period = fields.oneOf('period', BUDGET_PERIODS);
  const limit = fields.number('limit', { min: 0, max: MOST });
  const key = fields.string('key');
  if (period === undefined) throw invalidField('period', `must be one of ${BUDGET_PERIODS.join(', ')}.`);
  if (limit === undefined || limit === 0) throw invalidField('limit', `must be a number above 0, at most ${MOST}.`);
  return { unit, period, limit, key: key === undefined ? null : checkBudgetKey(key) };
}

export function checkBudgetKey(key: unknown): string {
  if (isKey(key)) return key;
  throw invalidField('key', `must be printable text of one line with 1 to ${MAX_KEY_BYTES} bytes.`);
}

const isKey = (key: unknown): key is string =>
  typeof key === 'string' && PRINTABLE.test(key) && Buffer.byteLength(key) <= MAX_KEY_BYTES;

/** Refuses amounts that would spoil a sum. */
export function checkAmounts(given: unknown): [unit: string, amount: number][] {
  const fields = new Fields(given, 'amounts');
  const units = Object.keys(given as object);
  if (units.length === 0 || units.length > MOST_UNITS)
    throw invalidField('amounts', `must have 1 to ${MOST_UNITS} units.`, { max: MOST_UNITS });
  return units.map((unit) => {
    checkUnit(unit, `amounts.${unit.slice(0, 100)}`);
    const amount = fields.number(unit, { min: 0, max: MOST });
    if (amount === undefined) throw invalidField(`amounts.${unit}`, 'must be a number from 0 on.');
    return [unit, amount];
  });
}

function checkUnit(unit: string, field: string): string {
  if (UNIT.test(unit)) return unit;
  const rule = 'names no unit. Use up to 32 lower-case letters, digits, - and _, such as tokens, usd or pages.';
  throw invalidField(field, rule);
}

export const budgetId = ({ unit, period, key }: Subject): string =>
  key === null ? `${unit}:${period}` : `${unit}:${period}:${key}`;

/** Refused as one that is not there: no budget has such an id. */
export function parseBudgetId(id: string): Subject {
  const [, unit = '', period, key] = /^([^:]*):([^:]*)(?::(.*))?$/s.exec(String(id)) ?? [];
  const isKnown = UNIT.test(unit) && BUDGET_PERIODS.some((known) => known === period);
  if (!isKnown || (key !== undefined && !isKey(key))) throw budgetNotFound(String(id));
  return { unit, period: period as BudgetPeriod, key: key ?? null };
}

export const budgetNotFound = (id: string): WaybillError =>
  new WaybillError('not_found', `There is no budget '${id.slice(0, 300)}'.`, {
    details: { budget: id.slice(0, 300) },
    hint: 'The id of a budget is unit:period, such as usd:month, or unit:period:key.',
  });

export const BUDGET_KIND = 'budget';

/** A record of the tenant by the id of the budget, which is what events name, too. */
export const budgetRecord = (tenant: string, id: string): RecordKey => ({ tenant, kind: BUDGET_KIND, id });
