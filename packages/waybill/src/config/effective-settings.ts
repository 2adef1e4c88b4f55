import { shownFile, withoutSecrets } from '@waybill/core';
import { shownAddress, shownOrigin, shownWord } from '../connect/shown-address.ts';
import { isHeard } from './apply-config.ts';
import type { ConfigKey } from './config-key.ts';
import { OWN_KEYS } from './keys.ts';
import { type Kind, readValue, type Value } from './kinds.ts';
import type { Config } from './load-config.ts';

export type Source = 'flag' | 'environment' | 'file' | 'default';

/** What holds for a key, fit to be seen. */
export interface Setting {
  key: string;
  /** Null: nothing is set, and there is no default. */
  value: Value | null;
  source: Source;
}

interface Given {
  config: Config | undefined;
  values: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
}

const MASK = '***';

/** Every key with the value that counts. Secrets are masked, and of addresses only what is safe is answered. */
export function effectiveSettings(given: Given): Setting[] {
  const settings = OWN_KEYS.flatMap((key) => (key.path.includes('*') ? named(key, given) : [settingOf(key, given)]));
  const fromFile = (path: string): boolean => settings.some(({ key, source }) => key === path && source === 'file');
  // An address by flag or environment says all of it.
  return settings.filter(({ key, source }) => {
    const partOf = OWN_KEYS.find(({ path }) => path === key)?.partOf;
    return partOf === undefined || source !== 'file' || fromFile(partOf);
  });
}

function settingOf(key: ConfigKey, { config, values, env }: Given): Setting {
  const shown = (source: Source, value: unknown): Setting => ({ key: key.path, value: fit(key, value), source });
  const { flag, env: variable } = key;
  if (flag !== undefined && values[flag] !== undefined) return shown('flag', values[flag]);
  if (variable !== undefined && env[variable]) return shown('environment', env[variable]);
  if (config !== undefined && (flag === undefined || variable !== undefined || isHeard(flag, values, env))) {
    const found = config.found.find(({ path }) => path === key.path)?.value;
    const told = found ?? (variable === undefined ? undefined : config.env[variable]) ?? listed(key, config);
    if (told !== undefined) return found === undefined ? shown('file', told) : shown('file', spanText(key.kind, found));
  }
  return { key: key.path, value: key.default ?? null, source: 'default' };
}

/** Queues by name stand in one flag, which is their key without the names. */
const listed = ({ path, flag }: ConfigKey, { flags }: Config): unknown =>
  path === 'worker.queues' && flag !== undefined ? flags[flag] : undefined;

/** Keys with the names of queues, as far as the file has them. */
function named(key: ConfigKey, { config, values }: Given): Setting[] {
  const { queues, bounds } = values;
  const isBound = key.path.startsWith('worker.bounds.');
  if (isBound && bounds !== undefined) return [{ key: 'worker.bounds', value: String(bounds), source: 'flag' }];
  if (queues !== undefined && key.path.startsWith('worker.')) return [];
  return (config?.found ?? [])
    .filter((one) => one.key === key)
    .map(({ path, value }) => ({ key: path, value: fit(key, spanText(key.kind, value)), source: 'file' as const }));
}

/** Spans were read as milliseconds. */
const spanText = ({ is }: Kind, value: Value): Value => (is === 'span' && value !== 0 ? spanOf(Number(value)) : value);

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

export function spanOf(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? (['ms', 1] as const);
  return `${ms / size}${unit}`;
}

/** What cannot be read as its kind will be refused by its command; it is shown as far as that is safe. */
function fit({ kind, secret, namesSecretFile }: ConfigKey, value: unknown): Value {
  if (secret) return MASK;
  if (namesSecretFile) return shownFile(String(value));
  if (kind.is === 'address') {
    const text = String(value);
    const shown = kind.hidesPath ? shownOrigin : shownAddress;
    return text === 'poll' ? text : /^[\w+.-]+:/.test(text) ? shown(text) || MASK : shownWord(text);
  }
  if (kind.is === 'span') return withoutSecrets(shownWord(String(value)));
  const read = readValue(kind, value);
  if (Array.isArray(read)) return read.map((item) => withoutSecrets(item));
  if (typeof read === 'number' || typeof read === 'boolean') return read;
  return withoutSecrets(read ?? shownWord(String(value)));
}
