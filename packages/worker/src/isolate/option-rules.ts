import { checkNames, WaybillError } from '@waybill/core';

/** What one option may be. `must` completes the sentence "'timeout' must be ..". */
export interface OptionRule {
  must: string;
  accepts(value: unknown): boolean;
  /** Whether the refusal names the value. @defaultValue false */
  shows?: boolean;
}

export type OptionRules<Options> = Readonly<Record<keyof Options & string, OptionRule>>;

/**
 * Refuses names that are not in the table, with the one that was probably meant, and values that break its rules. `owner` says whose
 * options these are, and `under` by which name they are given, such as 'isolate'.
 */
export function checkOptions<Options extends object>(
  owner: string,
  options: Options,
  rules: OptionRules<Options>,
  under?: string,
): void {
  checkNames(under === undefined ? owner : `${owner}: '${under}'`, options, Object.keys(rules));
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    const { accepts, must, shows = false } = rules[name as keyof Options & string];
    if (accepts(value)) continue;
    const field = under === undefined ? name : `${under}.${name}`;
    const found = shows ? `, not ${shown(value)}` : '';
    throw new WaybillError('invalid_request', `${owner}: '${field}' must be ${must}${found}.`, { details: { field } });
  }
}

const shown = (value: unknown): string => (typeof value === 'string' ? `'${value.slice(0, 100)}'` : String(value));

export const wholeFrom = (least: number, must: string, most: number = Number.MAX_SAFE_INTEGER): OptionRule => ({
  ...{ must, shows: true },
  accepts: (value) => Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most,
});

export const numberWhere = (accepts: (value: number) => boolean, must: string): OptionRule => ({
  ...{ must, shows: true },
  accepts: (value) => typeof value === 'number' && Number.isFinite(value) && accepts(value),
});

export const textOf = (must: string): OptionRule => ({
  must,
  accepts: (value) => typeof value === 'string' && value !== '',
});

export const functionOf = (must: string): OptionRule => ({ must, accepts: (value) => typeof value === 'function' });
