import { parseArgs } from 'node:util';
import { ERROR_TABLE } from '@waybill/client';
import { closest, type ErrorCode, WaybillError } from '@waybill/core';
import { CONFIG_OPTION } from '../config/find-config.ts';
import { isRemote } from '../connect/parse-address.ts';
import { shownAddress, shownWord } from '../connect/shown-address.ts';
import { withConfigFile } from './config-file.ts';
import { Context, type ContextValues } from './context.ts';
import { ENV_FILE_OPTION } from './env-file.ts';
import type { Io } from './io.ts';
import { refusalOf } from './report.ts';

export interface OptionSpec {
  about: string;
  /** What stands for the value in the help; an option without one is a switch. */
  value?: string;
  /** Whether it may be given more than once. */
  several?: true;
  /** For the help. */
  default?: string;
}

export type Options = Readonly<Record<string, OptionSpec>>;

type Value<S extends OptionSpec> = S extends { several: true }
  ? string[]
  : S extends { value: string }
    ? string
    : boolean;

export type Values<O extends Options> = { [K in keyof O]?: Value<O[K]> };

interface Spec<O extends Options> {
  /** One or two words. */
  name: string;
  /** Under which heading of the help it stands. */
  section: 'Servers and workers' | 'Jobs' | 'Schedules and workflows' | 'Care';
  summary: string;
  /**
   * Positionals as the help shows them: `ID…`, `TYPE [ARGS-JSON…]`. Brackets: optional. A dot triple: several. Where it begins with
   * `--`, they stand behind that word and are taken as they are, and nothing stands before it.
   */
  args?: string;
  options?: O;
  /** More for the help. */
  notes?: string;
  /** Servers are watched by supervisors and print logs: they exit with 0, 1 or 2 only, and have no --json. */
  isServer?: boolean;
  /** Whether it has to do with a store. @defaultValue true */
  usesStore?: boolean;
  /** Whether its calls are about one tenant. @defaultValue where it uses a store and is no server */
  takesTenant?: boolean;
  /** Whether it may speak to a server that asks for a key. @defaultValue where it uses a store and is no server */
  takesKey?: boolean;
  /** Whether the configuration file stands behind its flags and variables. @defaultValue false */
  readsConfig?: boolean;
  /** Answers the exit code where it is another than 0. */
  run(call: { args: string[]; values: Values<O> }, context: Context): Promise<number | undefined>;
}

export interface Command extends Omit<Required<Spec<Options>>, 'run'> {
  run(args: readonly string[], io: Io): Promise<number>;
}

const STORE = {
  store: {
    value: 'URL',
    about: 'sqlite:FILE, postgres://.., dynamodb://.. or http(s)://HOST',
    default: 'WAYBILL_STORE, sqlite:./waybill.db',
  },
} as const satisfies Options;

const TENANT = {
  tenant: { value: 'NAME', about: 'whose jobs and queues', default: 'WAYBILL_TENANT, the one without a name' },
} as const satisfies Options;

const KEY = {
  key: {
    value: 'SECRET',
    about: 'API key for a server; prefer the variable, since other users see arguments',
    default: 'WAYBILL_KEY, none',
  },
} as const satisfies Options;

const JSON_OUTPUT = {
  json: { about: 'print JSON in the words of the HTTP interface' },
} as const satisfies Options;

/** Describes a command once: parsing, checks and help all come from this. */
export function command<const O extends Options>(spec: Spec<O>): Command {
  const { args = '', notes = '', isServer = false, usesStore = true, takesTenant = usesStore && !isServer } = spec;
  const { takesKey = usesStore && !isServer, readsConfig = false } = spec;
  const own: Options = spec.options ?? {};
  const common = { ...(usesStore && STORE), ...(takesTenant && TENANT), ...(takesKey && KEY) };
  const options: Options = {
    ...{ ...own, ...common, ...own },
    ...(readsConfig && CONFIG_OPTION),
    ...(readsConfig && isServer && ENV_FILE_OPTION),
    ...(!isServer && JSON_OUTPUT),
  };
  const described = { ...spec, args, notes, isServer, usesStore, takesTenant, takesKey, readsConfig, options };
  const run = async (line: readonly string[], processIo: Io): Promise<number> => {
    const { values: given, positionals } = args.startsWith(VERBATIM)
      ? parseVerbatim(described, line)
      : parse(described, line);
    checkCount(described, positionals);
    const { io, values, config, preset } = readsConfig
      ? await withConfigFile(given, options, processIo)
      : { io: processIo, values: given, config: undefined, preset: undefined };
    const context = new Context(io, values as ContextValues, { config, preset });
    try {
      return (await spec.run({ args: positionals, values: values as Values<O> }, context)) ?? 0;
    } catch (error) {
      throw nearer(error, context);
    } finally {
      await context.close();
    }
  };
  return { ...described, run };
}

export function usageOf({ name, args }: Pick<Command, 'name' | 'args'>): string {
  const parts = args.startsWith(VERBATIM) ? [name, '[options]', args] : [name, args, '[options]'];
  return ['waybill', ...parts].filter((part) => part !== '').join(' ');
}

/** What a server refuses for reasons that lie in how the command was called, with what to do there. */
function nearer(error: unknown, context: Context): unknown {
  const { code, message, hint } = refusalOf(error);
  if (!isRemote(context.store)) return error;
  const advice = adviceFor(code, hint, context);
  return advice === undefined ? error : new WaybillError(code, message, { hint: advice, cause: error });
}

function adviceFor(code: ErrorCode, hint: string | undefined, { store, key }: Context): string | undefined {
  switch (code) {
    case 'unavailable':
      // A server that cannot be reached is most often one that was named wrongly.
      return hint === undefined ? `Is a server running at ${shownAddress(store)}?` : undefined;
    case 'unauthenticated':
      return key === undefined
        ? 'Name a key that this server knows: by WAYBILL_KEY, or by --key.'
        : 'Check WAYBILL_KEY or --key: the key may be revoked, expired, or one of another server.';
    case 'forbidden': {
      const own = hint === undefined || hint === ERROR_TABLE.forbidden.hint ? '' : `${hint} `;
      return `${own}Name a key whose scopes, tenant and queues allow this: by WAYBILL_KEY, or by --key.`;
    }
    default:
      return undefined;
  }
}

type Described = Pick<Command, 'name' | 'args' | 'options'>;

export const misuse = (message: string): WaybillError => new WaybillError('invalid_request', message);

function parse(described: Described, line: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(described.options).map(([name, { value, several = false }]) => [
      name,
      { type: value === undefined ? ('boolean' as const) : ('string' as const), multiple: several },
    ]),
  );
  try {
    return parseArgs({ args: withNegatives(described.options, line), options, allowPositionals: true });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Node goes on about positionals that begin with a dash, which hides what matters.
    const isUnknown = code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION';
    const told = (isUnknown ? message.split('. To specify', 1)[0]! : message).replaceAll(/\s+/g, ' ');
    const meant = isUnknown ? optionMeant(message, Object.keys(options)) : '';
    throw misuse(`${told.endsWith('.') ? told : `${told}.`}${meant}`);
  }
}

/** How the positionals of a command begin that are a command line of their own. */
const VERBATIM = '-- ';

function parseVerbatim(described: Described, line: readonly string[]) {
  const end = line.includes('--') ? line.indexOf('--') : line.length;
  const { values, positionals } = parse(described, line.slice(0, end));
  const [early] = positionals;
  if (early === undefined) return { values, positionals: line.slice(end + 1) };
  const shown = shownWord(early);
  throw misuse(`Put -- before '${shown}', as in: waybill ${described.name} -- ${shown}`);
}

/** A proposal for a long option that was misspelt or cut short; empty where none is near. */
function optionMeant(message: string, known: readonly string[]): string {
  const typed = /'--([^'=]+)/.exec(message)?.[1];
  if (typed === undefined) return '';
  const begun = known.filter((name) => name.startsWith(typed));
  const meant = begun.length === 1 ? begun[0] : closest(typed, known);
  return meant === undefined ? '' : ` Did you mean '--${meant}'?`;
}

/** `--priority -5` means what it seems to mean; parseArgs takes it for a forgotten value. */
function withNegatives(options: Options, line: readonly string[]): string[] {
  const joined: string[] = [];
  for (const word of line) {
    const option = options[joined.at(-1)?.replace(/^--/, '') ?? ''];
    const isValue = /^-\d/.test(word) && joined.at(-1)?.startsWith('--') && option?.value !== undefined;
    if (isValue) joined.push(`${joined.pop()}=${word}`);
    else joined.push(word);
  }
  return joined;
}

function checkCount(described: Described, positionals: readonly string[]): void {
  const wanted = described.args === '' ? [] : described.args.replace(VERBATIM, '').split(' ');
  const missing = wanted.find((arg, index) => !arg.startsWith('[') && positionals[index] === undefined);
  if (missing !== undefined) throw misuse(`'waybill ${described.name}' needs ${missing.replace('…', '')}.`);
  const takesMany = wanted.some((arg) => /…\]?$/.test(arg));
  const extra = takesMany ? undefined : positionals[wanted.length];
  if (extra !== undefined) throw misuse(`'waybill ${described.name}' does not take '${shownWord(extra)}'.`);
}
