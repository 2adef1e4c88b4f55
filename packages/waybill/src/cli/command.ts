import { parseArgs } from 'node:util';
import { closest, WaybillError } from '@waybill/core';
import { isRemote } from '../connect/parse-address.ts';
import { shownAddress, shownWord } from '../connect/shown-address.ts';
import { Context } from './context.ts';
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
  /** Positionals as the help shows them: `ID…`, `TYPE [ARGS-JSON…]`. Brackets: optional. A dot triple: several. */
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

const JSON_OUTPUT = {
  json: { about: 'print JSON in the words of the HTTP interface' },
} as const satisfies Options;

/** Describes a command once: parsing, checks and help all come from this. */
export function command<const O extends Options>(spec: Spec<O>): Command {
  const { args = '', notes = '', isServer = false, usesStore = true, takesTenant = usesStore && !isServer } = spec;
  const own: Options = spec.options ?? {};
  const common = { ...(usesStore && STORE), ...(takesTenant && TENANT) };
  const options: Options = { ...own, ...common, ...own, ...(!isServer && JSON_OUTPUT) };
  const described = { ...spec, args, notes, isServer, usesStore, takesTenant, options };
  const run = async (line: readonly string[], io: Io): Promise<number> => {
    const { values, positionals } = parse(described, line);
    checkCount(described, positionals);
    const context = new Context(io, values as { store?: string; tenant?: string; json?: boolean });
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

export const usageOf = ({ name, args }: Pick<Command, 'name' | 'args'>): string =>
  ['waybill', name, args, '[options]'].filter((part) => part !== '').join(' ');

/** A server that cannot be reached is most often one that was named wrongly. */
function nearer(error: unknown, { store }: Context): unknown {
  const { code, message, hint } = refusalOf(error);
  if (code !== 'unavailable' || hint !== undefined || !isRemote(store)) return error;
  return new WaybillError(code, message, { hint: `Is a server running at ${shownAddress(store)}?`, cause: error });
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
  const wanted = described.args === '' ? [] : described.args.split(' ');
  const missing = wanted.find((arg, index) => !arg.startsWith('[') && positionals[index] === undefined);
  if (missing !== undefined) throw misuse(`'waybill ${described.name}' needs ${missing.replace('…', '')}.`);
  const takesMany = wanted.some((arg) => /…\]?$/.test(arg));
  const extra = takesMany ? undefined : positionals[wanted.length];
  if (extra !== undefined) throw misuse(`'waybill ${described.name}' does not take '${shownWord(extra)}'.`);
}
