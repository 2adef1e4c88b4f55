import { didYouMean, WaybillError } from '@waybill/core';

/** The environment. OpenTelemetry has given names to the variables that are read from it here. */
export type Env = Readonly<Record<string, string | undefined>>;

export const textIn = (env: Env, name: string): string | undefined => env[name]?.trim() || undefined;

export function flagIn(env: Env, name: string): boolean {
  const text = textIn(env, name)?.toLowerCase();
  if (text === undefined || text === 'false' || text === '0') return false;
  if (text === 'true' || text === '1') return true;
  throw new WaybillError('invalid_request', `${name} must be true or false, not '${shown(text)}'.`);
}

export function wholeIn(env: Env, name: string, fallback: number, most = 86_400_000): number {
  const text = textIn(env, name);
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= 1 && value <= most) return value;
  throw new WaybillError('invalid_request', `${name} must be a whole number from 1 to ${most}, not '${shown(text)}'.`);
}

export function unknownValue(name: string, value: string, known: readonly string[]): WaybillError {
  const message = `${name} has the unknown value '${shown(value)}'.${didYouMean(value, [...known])}`;
  return new WaybillError('invalid_request', message, { hint: `Use ${known.join(', ')}.` });
}

/** A variable may hold anything, so only a little of a wrong value is shown. */
export const shown = (text: string | undefined): string => (text ?? '').replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 40);

/**
 * `a=1,b=2`, percent-encoded, as headers and resource attributes are written. Values may be secret, so a message shows
 * only where the bad pair stands.
 */
export function pairsIn(name: string, text: string): Record<string, string> {
  const pairs: Record<string, string> = {};
  for (const [index, pair] of text.split(',').entries()) {
    if (pair.trim() === '') continue;
    const at = pair.indexOf('=');
    const key = pair.slice(0, at).trim();
    if (at < 1 || key === '') throw badPair(name, index);
    try {
      pairs[decodeURIComponent(key)] = decodeURIComponent(pair.slice(at + 1).trim());
    } catch (cause) {
      throw badPair(name, index, cause);
    }
  }
  return pairs;
}

const badPair = (name: string, index: number, cause?: unknown): WaybillError =>
  new WaybillError('invalid_request', `Entry ${index + 1} of ${name} is not of the form name=value.`, {
    hint: 'Separate entries by commas, and percent-encode commas, percent and equals signs inside of values.',
    ...(cause !== undefined && { cause }),
  });
