import { parseDuration } from '@waybill/core';

/** What a value of the configuration file may be. */
export type Kind =
  | { is: 'text'; pattern?: RegExp; rule?: string }
  /** Messages and lists show what `shownAddress` shows of it. */
  | { is: 'address'; pattern?: RegExp; rule?: string; hidesPath?: true }
  | { is: 'whole'; min: number; max: number }
  | { is: 'ratio' }
  | { is: 'switch' }
  /** `of`: of these alone. */
  | { is: 'list'; of?: readonly string[] }
  /** `bare`: what a number without a unit means; without it a unit is required. */
  | { is: 'span'; min: number; bare?: 'days' }
  | { is: 'choice'; of: readonly string[] };

export type Value = string | number | boolean | string[];

export const text: Kind = { is: 'text' };
export const address: Kind = { is: 'address' };
/** The path of a collector may hold its key. */
export const collector: Kind = {
  is: 'address',
  pattern: /^https?:\/\/\S+$/i,
  rule: 'must be the address of a collector that takes OTLP over HTTP, like http://127.0.0.1:4318',
  hidesPath: true,
};
export const list: Kind = { is: 'list' };
export const listOf = (...of: string[]): Kind => ({ is: 'list', of });
export const onOrOff: Kind = { is: 'switch' };
export const ratio: Kind = { is: 'ratio' };
export const whole = (min: number, max: number): Kind => ({ is: 'whole', min, max });
export const choice = (...of: string[]): Kind => ({ is: 'choice', of });
export const span: Kind = { is: 'span', min: 1 };
export const days: Kind = { is: 'span', min: 1, bare: 'days' };
/** 0 is a value of its own. */
export const daysOrZero: Kind = { is: 'span', min: 0, bare: 'days' };
export const name: Kind = {
  is: 'text',
  pattern: /^[A-Za-z0-9_.-]{1,255}$/,
  rule: 'must be letters, digits and . _ -',
};
/** Errors name an endpoint that does not answer, so it must hold nothing secret. */
export const endpoint: Kind = {
  is: 'address',
  pattern: /^https?:\/\/[^/?#@\\]+(?:\/[^?#@]*)?$/i,
  rule: 'must be an address like http://127.0.0.1:4566, without user, password and parameters',
};

const DAY_MS = 86_400_000;
/** Node's timers and the stores take no longer ones. */
const LONGEST_MS = 36_500 * DAY_MS;
const SHORT = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/;
const SHORT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: DAY_MS };

/** What messages and the documentation say of a kind. */
export function ruleOf(kind: Kind): string {
  switch (kind.is) {
    case 'text':
      return kind.rule ?? 'must be text';
    case 'address':
      return kind.rule ?? 'must be an address';
    case 'whole':
      return `must be a whole number from ${kind.min} to ${kind.max}`;
    case 'ratio':
      return 'must be a number from 0 to 1';
    case 'switch':
      return 'must be true or false';
    case 'list':
      return kind.of === undefined ? 'must be a list of texts' : `must be a list of ${kind.of.join(', ')}`;
    case 'span':
      return kind.bare === 'days'
        ? `must be a number of days${kind.min === 0 ? ', 0 included' : ' above 0'}, or a span like 12h or 7d`
        : 'must be a span like 30s, 5m or 2h';
    case 'choice':
      return `must be ${kind.of.slice(0, -1).join(', ')}${kind.of.length > 1 ? ' or ' : ''}${kind.of.at(-1)}`;
  }
}

/** The value as the rest of the program takes it; undefined where it breaks the rule. Spans are milliseconds. */
export function readValue(kind: Kind, value: unknown): Value | undefined {
  switch (kind.is) {
    case 'text':
    case 'address':
      return readText(kind, value);
    case 'whole':
      return inRange(numberOf(value, /^-?\d{1,15}$/), kind.min, kind.max, Number.isSafeInteger);
    case 'ratio':
      return inRange(numberOf(value, /^\d(\.\d+)?$/), 0, 1, Number.isFinite);
    case 'switch':
      // What stands for a variable is text.
      return typeof value === 'boolean' ? value : value === 'true' ? true : value === 'false' ? false : undefined;
    case 'list':
      return readList(kind, value);
    case 'span':
      return inRange(readSpan(kind, value), kind.min, LONGEST_MS, Number.isFinite);
    case 'choice':
      return typeof value === 'string' && kind.of.includes(value) ? value : undefined;
  }
}

function readText({ pattern }: { pattern?: RegExp }, value: unknown): string | undefined {
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  return pattern === undefined || pattern.test(value) ? value : undefined;
}

const numberOf = (value: unknown, pattern: RegExp): number | undefined =>
  typeof value === 'number' ? value : typeof value === 'string' && pattern.test(value) ? Number(value) : undefined;

const inRange = (value: number | undefined, min: number, max: number, fits: (value: number) => boolean) =>
  value !== undefined && fits(value) && value >= min && value <= max ? value : undefined;

/** One text may hold several, separated by commas, as in the environment. */
function readList({ of }: { of?: readonly string[] }, value: unknown): string[] | undefined {
  const items = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(items) || items.some((item) => typeof item !== 'string' || item.trim() === '')) return undefined;
  if (of && items.some((item: string) => !of.includes(item.trim()))) return undefined;
  // A comma inside of an item would become two items in the environment.
  return items.some((item: string) => item.includes(',')) ? undefined : items.map((item: string) => item.trim());
}

function readSpan({ bare }: { bare?: 'days' }, value: unknown): number | undefined {
  const number = bare === 'days' ? numberOf(value, /^\d+(\.\d+)?$/) : undefined;
  if (number !== undefined) return Math.round(number * DAY_MS);
  if (typeof value !== 'string') return undefined;
  const [, count, unit] = SHORT.exec(value) ?? [];
  return count === undefined ? parseDuration(value) : Math.round(Number(count) * SHORT_MS[unit!]!);
}
