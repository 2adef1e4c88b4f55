import { parseArgs } from 'node:util';
import type { BenchStore } from './stores/store.ts';

export type Stores = Readonly<Record<string, BenchStore>>;

export interface BenchOptions {
  store: string;
  workloads: string[];
  systems: string[] | undefined;
  rounds: number;
  scale: number;
  json: boolean;
  postgresUrl: string | undefined;
}

const ROUNDS = 5;

const listOf = (stores: Stores): string =>
  Object.entries(stores)
    .map(([name, { workloads }]) => `  ${name}: ${Object.keys(workloads).join(', ')}`)
    .join('\n');

export const help = (stores: Stores): string => `npm run bench -- [options]

  --store NAME         the store to measure: ${Object.keys(stores).join(', ')} (default sqlite)
  --postgres-url URL   a server to use instead of starting one; the role must be allowed to create databases
  --workload NAME      only this one; may be repeated
  --systems A,B        only these; may be repeated
  --rounds N           interleaved rounds; the median is reported (default 5; 1 for dynamodb)
  --scale X            so many times the documented number of jobs (default 1)
  --json               one line of JSON per run instead of a table

Workloads
${listOf(stores)}`;

/** Throws with a message for people when an option cannot be meant. */
export function optionsOf(args: readonly string[], stores: Stores): BenchOptions | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string', default: 'sqlite' },
      'postgres-url': { type: 'string' },
      workload: { type: 'string', multiple: true },
      systems: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      scale: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { store, json, 'postgres-url': postgresUrl } = values;
  if (!Object.hasOwn(stores, store)) throw new Error(`there is no store '${store}' here`);
  const known = stores[store]!.workloads;
  const workloads = values.workload ?? Object.keys(known);
  for (const name of workloads) {
    if (!Object.hasOwn(known, name)) throw new Error(`there is no workload '${name}' for ${store}`);
  }
  const systems = values.systems?.flatMap((names) => names.split(','));
  for (const name of systems ?? []) {
    if (!workloads.some((workload) => Object.hasOwn(known[workload]!.systems, name)))
      throw new Error(`no system '${name}' is measured there`);
  }
  const rounds = Number(values.rounds ?? stores[store]!.rounds ?? ROUNDS);
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1');
  const scale = Number(values.scale);
  if (!(scale > 0)) throw new Error('--scale takes a number above 0');
  return { store, workloads, systems, rounds, scale, json, postgresUrl };
}
