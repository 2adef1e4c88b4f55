import { checkLogger, checkNames, closest, WaybillError } from '@waybill/core';
import type { PostgresOptions } from './options.ts';

const NAMES: Readonly<Record<keyof PostgresOptions, true>> = {
  ...{ url: true, config: true, pool: true, schema: true, poolSize: true, clock: true, logger: true, listen: true },
  ...{ listenUrl: true, migrate: true, patienceMs: true, queryTimeoutMs: true, connectTimeoutMs: true },
};

const FLAGS = ['listen', 'migrate'] as const;
const LENGTHS = ['queryTimeoutMs', 'connectTimeoutMs'] as const;

/**
 * Refuses what would have no effect or could not work, before a connection is made. `more`: what the caller takes besides.
 * No message shows an address, because it may hold a password anywhere.
 */
export function checkPostgresOptions(options: PostgresOptions, more: readonly string[] = []): void {
  checkNames('postgresStore()', options, [...Object.keys(NAMES), ...more]);
  const given = (['url', 'config', 'pool'] as const).filter((name) => options[name] !== undefined);
  if (given.length === 0 && 'url' in options) {
    throw refuse(`got 'url' as ${options.url}.`, 'If it comes from an environment variable, check that it is set.');
  }
  if (typeof options.url === 'string') checkParameters(options.url);
  // What a config leaves out is taken from the address.
  if (given.includes('pool') && given.length > 1) {
    throw refuse(`takes ${given.join(' or ')}, not both.`, 'A pool knows its server.');
  }
  for (const name of ['url', 'listenUrl', 'schema'] as const) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== 'string') throw refuse(`needs text in '${name}', not ${typeof value}.`);
  }
  for (const name of FLAGS) {
    const value: unknown = options[name];
    if (value !== undefined && typeof value !== 'boolean') {
      throw refuse(`needs true or false in '${name}', not ${typeof value}.`);
    }
  }
  for (const name of LENGTHS) checkNumber(name, options[name], 1, 'milliseconds above 0');
  checkNumber('patienceMs', options.patienceMs, 0, 'milliseconds from 0 on');
  checkNumber('poolSize', options.poolSize, 1, 'a number of connections from 1 on');
  if (options.poolSize !== undefined && !Number.isInteger(options.poolSize)) {
    throw refuse(`needs a whole number of connections in 'poolSize', not ${options.poolSize}.`);
  }
  checkLogger(options.logger);
}

/** In an address for `connect` these are read by it. Here they would go to the driver, which ignores them. */
const READ_BY_CONNECT = ['schema', 'pool', 'listen_url'];

function checkParameters(url: string): void {
  const names = URL.canParse(url) ? [...new URL(url).searchParams.keys()] : [];
  const wrong = names.find((name) => closest(name.toLowerCase(), READ_BY_CONNECT) !== undefined);
  if (wrong === undefined) return;
  const hint = "Use the options 'schema', 'poolSize' and 'listenUrl'.";
  throw refuse("takes no parameter of Waybill's in 'url': it would have no effect.", hint);
}

function checkNumber(name: string, value: unknown, least: number, wanted: string): void {
  if (value === undefined || (typeof value === 'number' && Number.isFinite(value) && value >= least)) return;
  const found = typeof value === 'number' ? String(value) : typeof value;
  throw refuse(`needs ${wanted} in '${name}', not ${found}.`);
}

const refuse = (why: string, hint?: string): WaybillError =>
  new WaybillError('invalid_request', `postgresStore() ${why}`, hint === undefined ? {} : { hint });
