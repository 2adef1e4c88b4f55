import { parseArgs } from 'node:util';
import { didYouMean } from '@waybill/core';

export const STORE_NAMES = ['sqlite', 'postgres', 'dynamodb'] as const;
export type StoreName = (typeof STORE_NAMES)[number];

export interface ChaosOptions {
  store: StoreName;
  minutes: number;
  seed: string;
  /** At most so many, of all producers together; absent: as the store can take. */
  jobsPerSecond: number | undefined;
  /** Print the faults and do nothing. */
  planOnly: boolean;
  keep: boolean;
  json: boolean;
}

const OPTIONS = {
  store: { type: 'string' },
  minutes: { type: 'string' },
  seed: { type: 'string' },
  'jobs-per-second': { type: 'string' },
  plan: { type: 'boolean' },
  keep: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

/** Longer runs are rounds of this length, each on a store of its own, so that the audit fits into memory. */
export const ROUND_MINUTES = 10;

export const HELP = `npm run chaos -- --store ${STORE_NAMES.join('|')} [options]

  --store NAME           the store to run on; its database is started here
  --minutes N            how long things go wrong; fractions are fine (default 2). Longer than ${ROUND_MINUTES}: in rounds
                         of ${ROUND_MINUTES} minutes, each with a seed and a store of its own
  --seed TEXT            what goes wrong, and when (default: a random one, which is printed)
  --jobs-per-second N    bound of all producers together (default: 40; 6 for dynamodb)
  --plan                 print what would go wrong, and do nothing
  --keep                 keep the folder with journals and logs, which is kept anyway when a guarantee was broken
  --json                 one line of JSON per round instead of tables
  --help

Exits with 1 when a guarantee was broken. docs/chaos.md tells more.`;

/** Throws with a message for people when an option cannot be meant. */
export function optionsOf(args: readonly string[], randomSeed: () => string): ChaosOptions | 'help' {
  const { values, tokens, positionals } = parseArgs({
    ...{ args: [...args], options: OPTIONS, strict: false, tokens: true, allowPositionals: true },
  });
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    if (!Object.hasOwn(OPTIONS, token.name)) throw unknownOption(token.rawName, token.name);
    if (OPTIONS[token.name as keyof typeof OPTIONS].type === 'string' && token.value === undefined)
      throw new Error(`${token.rawName} needs a value`);
  }
  if (values.help) return 'help';
  if (positionals.length > 0) throw new Error(`'${positionals[0]}' is no option; they begin with --`);
  const given = values as { [Name in keyof typeof OPTIONS]?: string };
  const { store, seed = randomSeed() } = given;
  if (store === undefined) throw new Error(`--store is needed: ${STORE_NAMES.join(', ')}`);
  if (!isStore(store)) throw new Error(`there is no store '${store}' here.${didYouMean(store, STORE_NAMES)}`);
  if (!/^[\w.-]{1,64}$/.test(seed)) throw new Error('--seed takes up to 64 letters, digits, dots and dashes');
  return {
    store,
    seed,
    minutes: numberOf('--minutes', given.minutes ?? '2'),
    jobsPerSecond:
      given['jobs-per-second'] === undefined ? undefined : numberOf('--jobs-per-second', given['jobs-per-second']),
    planOnly: values.plan === true,
    keep: values.keep === true,
    json: values.json === true,
  };
}

const isStore = (name: string): name is StoreName => STORE_NAMES.some((one) => one === name);

const unknownOption = (raw: string, name: string): Error =>
  new Error(`there is no option '${raw}'.${didYouMean(name, Object.keys(OPTIONS))}`);

function numberOf(name: string, text: string): number {
  const number = Number(text);
  if (Number.isFinite(number) && number > 0) return number;
  throw new Error(`${name} takes a number above 0, not '${text}'`);
}

/** How to run the same again. */
export const commandFor = ({ store, seed, minutes, jobsPerSecond }: ChaosOptions): string =>
  `npm run chaos -- --store ${store} --seed ${seed} --minutes ${minutes}${
    jobsPerSecond === undefined ? '' : ` --jobs-per-second ${jobsPerSecond}`
  }`;

/** A long run in rounds, each of which can be run again by itself. */
export function roundsOf(options: ChaosOptions): ChaosOptions[] {
  const count = Math.ceil(options.minutes / ROUND_MINUTES);
  return Array.from({ length: count }, (_, index) => ({
    ...options,
    minutes: Math.min(ROUND_MINUTES, options.minutes - index * ROUND_MINUTES),
    seed: index === 0 ? options.seed : `${options.seed}.${index + 1}`,
  }));
}
