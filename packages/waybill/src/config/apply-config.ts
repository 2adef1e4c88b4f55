import { OWN_KEYS } from './keys.ts';
import type { Config } from './load-config.ts';

type Env = Readonly<Record<string, string | undefined>>;
type Values = Readonly<Record<string, unknown>>;

/** The environment beats the file. A variable that is empty counts as one that is not set, as everywhere in the command. */
export function envWith(config: Config | undefined, env: Env): Env {
  if (config === undefined) return env;
  const set = Object.entries(env).filter(([name, value]) => value !== '' || config.env[name] === undefined);
  return { ...config.env, ...Object.fromEntries(set) };
}

/** Flags beat the file, and so do flags and variables that say something else about the same matter. */
export function valuesWith(
  config: Config | undefined,
  values: Values,
  known: Readonly<Record<string, unknown>>,
  env: Env,
) {
  if (config === undefined) return values;
  const told = Object.entries(config.flags).filter(
    ([flag]) => Object.hasOwn(known, flag) && isHeard(flag, values, env),
  );
  return { ...Object.fromEntries(told), ...values };
}

export function isHeard(flag: string, values: Values, env: Env): boolean {
  // Bounds are about the queues of the file.
  if (flag === 'bounds' && values['queues'] !== undefined) return false;
  const yieldsTo = OWN_KEYS.find((key) => key.flag === flag && key.env === undefined)?.yieldsTo;
  return !yieldsTo?.flags?.some((one) => values[one] !== undefined) && !yieldsTo?.env?.some((name) => env[name]);
}
