import path from 'node:path';
import { isObject, WaybillError } from '@waybill/core';
import { checkConfig, type Found } from './check-config.ts';
import { type ConfigOptions, dynamodbAddressOf, OptionsBuilder, sqsAddressOf } from './config-options.ts';
import { findConfig } from './find-config.ts';
import type { Value } from './kinds.ts';
import { rewriteOtherBlock } from './other-block.ts';
import { readConfig } from './read-config.ts';
import { resolveReferences } from './references.ts';
import { brokenRules } from './rules.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A configuration file, checked and translated into what commands take already. */
export interface Config {
  /** Without its folder. */
  file: string;
  /** Fallbacks of environment variables. */
  env: Readonly<Record<string, string>>;
  /** Fallbacks of flags for which there is no variable. */
  flags: Readonly<Record<string, string | boolean>>;
  /** What has neither. */
  options: ConfigOptions;
  /** What the user should know, and what is no mistake. */
  notices: readonly string[];
  found: readonly Found[];
}

export interface Loading {
  /** The file that a flag or an argument names. */
  named?: string | undefined;
  env: Env;
  /** What the command line says besides. */
  flags?: Readonly<Record<string, unknown>>;
  /** @defaultValue the folder in which the command runs */
  folder?: string;
}

/** Undefined where no file is named and none is found. */
export async function loadConfig({
  named,
  env,
  flags = {},
  folder = process.cwd(),
}: Loading): Promise<Config | undefined> {
  const file = findConfig(named ?? (env['WAYBILL_CONFIG'] || undefined), folder);
  if (file === undefined) return undefined;
  const name = path.basename(file);
  const { document, problems: unresolved, variables } = resolveReferences(await readConfig(file), env, name);
  const checked = checkConfig(document, name, variables);
  const { found, problems, notices } = rewriteOtherBlock(checked.found, name);
  const all = [...unresolved, ...checked.problems, ...problems];
  // Keys that have a problem of their own would look as if they were missing.
  if (all.length === 0) all.push(...brokenRules(found, name, { env, flags }));
  if (all.length > 0) throw refusedFor(all, name);
  return { file: name, ...translated(found, document), notices, found };
}

const MOST_PROBLEMS = 50;

function refusedFor(problems: readonly string[], file: string): WaybillError {
  const shown = problems.slice(0, MOST_PROBLEMS);
  const rest = problems.length > shown.length ? [`and ${problems.length - shown.length} more.`] : [];
  const lines = [...shown, ...rest].map((problem) => `\n  ${problem}`).join('');
  const message = problems.length === 1 ? problems[0]! : `${file} has ${problems.length} problems:${lines}`;
  return new WaybillError('invalid_request', message, {
    hint: 'docs/configuration.md lists the keys. `waybill config check` tries the file.',
  });
}

function translated(found: readonly Found[], document: unknown): Pick<Config, 'env' | 'flags' | 'options'> {
  const env: Record<string, string> = {};
  const flags: Record<string, string | boolean> = queueFlags(document);
  const builder = new OptionsBuilder();
  for (const { key, names, value } of found) {
    if (key.env !== undefined) env[key.env] = textOf(value);
    else if (key.option !== undefined) builder.set(key.option, names, value);
    else if (key.flag !== undefined && flags[key.flag] === undefined) {
      if (value !== false) flags[key.flag] = value === true ? true : textOf(value, key.kind.is === 'span' ? 'ms' : '');
    }
  }
  const { sqsAddress, dynamodbAddress, ...options } = builder.options;
  const isSqs = found.some(({ path: one }) => one.startsWith('sqs.'));
  if (isSqs) env['WAYBILL_TRANSPORT'] ??= sqsAddressOf(sqsAddress ?? {});
  if (dynamodbAddress?.table !== undefined) env['WAYBILL_STORE'] ??= dynamodbAddressOf(dynamodbAddress);
  return { env, flags, options };
}

const textOf = (value: Value, unit = ''): string =>
  Array.isArray(value) ? value.join(',') : `${String(value)}${unit}`;

/** Queues of a worker in the words of --queues and --bounds; both are lists of pairs there. */
function queueFlags(document: unknown): Record<string, string> {
  const worker = isObject(document) && isObject(document['worker']) ? document['worker'] : {};
  const { queues = null, bounds = null } = worker;
  const named = isObject(queues) ? Object.entries(queues) : [];
  const weights = named.map(([queue, said]) => {
    const weight = isObject(said) ? said['weight'] : said;
    return weight === undefined || weight === null ? queue : `${queue}=${weight}`;
  });
  const own = named.flatMap(([queue, said]) =>
    isObject(said) && said['concurrency'] !== undefined ? [[queue, said['concurrency']] as const] : [],
  );
  const bounded = new Map([...own, ...(isObject(bounds) ? Object.entries(bounds) : [])]);
  return {
    ...(weights.length > 0 && { queues: weights.join(',') }),
    ...(bounded.size > 0 && { bounds: [...bounded].map(([queue, most]) => `${queue}=${most}`).join(',') }),
  };
}
