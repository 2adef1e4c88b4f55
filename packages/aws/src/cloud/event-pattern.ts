import { isObject } from '@waybill/core';

/**
 * Whether an event fits the pattern of a rule, as EventBridge has it: every field that the pattern names must be there,
 * and fit one of the values that it lists. Known are literals and prefix, suffix, exists, anything-but and numeric.
 */
export function fits(pattern: unknown, event: unknown): boolean {
  if (!isObject(pattern)) return false;
  return Object.entries(pattern).every(([name, wanted]) => {
    const value = isObject(event) ? event[name] : undefined;
    if (Array.isArray(wanted)) return wanted.some((one) => fitsOne(one, value));
    return fits(wanted, value);
  });
}

function fitsOne(wanted: unknown, value: unknown): boolean {
  if (Array.isArray(value)) return value.some((one) => fitsOne(wanted, one));
  if (!isObject(wanted)) return wanted === value;
  return Object.entries(wanted).every(([test, operand]) => fitsTest(test, operand, value));
}

function fitsTest(test: string, operand: unknown, value: unknown): boolean {
  switch (test) {
    case 'exists':
      return (value !== undefined) === operand;
    case 'prefix':
      return typeof value === 'string' && value.startsWith(String(operand));
    case 'suffix':
      return typeof value === 'string' && value.endsWith(String(operand));
    case 'anything-but':
      return value !== undefined && ![operand].flat().some((one) => fitsOne(one, value));
    case 'numeric':
      return typeof value === 'number' && Array.isArray(operand) && fitsNumbers(operand, value);
    default:
      return false;
  }
}

const COMPARE: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '=': (a, b) => a === b,
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};

/** Pairs of a comparison and a number, all of which must hold. */
function fitsNumbers(operands: readonly unknown[], value: number): boolean {
  for (let at = 0; at < operands.length; at += 2) {
    const compare = COMPARE[String(operands[at])];
    if (!compare?.(value, Number(operands[at + 1]))) return false;
  }
  return true;
}
