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
  /** The revision to compare this build with. */
  against: string | undefined;
  /** The lowest ratio that is good enough. */
  atLeast: number | undefined;
}

const ROUNDS = 5;
const TELEMETRY = 'drain-telemetry';
const AGAINST = { rounds: 9, workloads: ['drain', 'enqueue-one', 'latency'] };

const listOf = (stores: Stores): string =>
  Object.entries(stores)
    .map(([name, { workloads }]) => `  ${name}: ${Object.keys(workloads).join(', ')}`)
    .join('\n');

export const help = (stores: Stores): string => `npm run bench -- [options]

  --store NAME         the store to measure: ${Object.keys(stores).join(', ')} (default sqlite)
  --postgres-url URL   a server to use instead of starting one; the role must be allowed to create databases
  --workload NAME      only this one; may be repeated
  --telemetry          only ${TELEMETRY}: a drain with traces and metrics on, beside one without
  --systems A,B        only these; may be repeated
  --rounds N           interleaved rounds; the median is reported (default 5; 1 for dynamodb)
  --scale X            so many times the documented number of jobs (default 1)
  --against REF        compare this build with that of a commit, branch or tag, in turn: ${AGAINST.rounds} rounds of
                       ${AGAINST.workloads.join(', ')}, unless --rounds or --workload say otherwise
  --at-least X         with --against: exit with 1 if a median ratio is below X; 0.9 is within a tenth
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
      telemetry: { type: 'boolean', default: false },
      systems: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      scale: { type: 'string', default: '1' },
      against: { type: 'string' },
      'at-least': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const { store, json, against, 'postgres-url': postgresUrl } = values;
  if (!Object.hasOwn(stores, store)) throw new Error(`there is no store '${store}' here`);
  const known = stores[store]!.workloads;
  if (against !== undefined && !AGAINST.workloads.every((name) => Object.hasOwn(known, name)))
    throw new Error(`nothing is timed on ${store}, so --against has nothing to compare; use another --store`);
  if (values.telemetry && (values.workload || against !== undefined))
    throw new Error(`--telemetry means --workload ${TELEMETRY}, and goes with no other and without --against`);
  const asked = values.telemetry ? [TELEMETRY] : values.workload;
  const workloads = asked ?? (against === undefined ? Object.keys(known) : AGAINST.workloads);
  for (const name of workloads) {
    if (!Object.hasOwn(known, name)) throw new Error(`there is no workload '${name}' for ${store}`);
  }
  const systems = values.systems?.flatMap((names) => names.split(','));
  for (const name of systems ?? []) {
    if (!workloads.some((workload) => Object.hasOwn(known[workload]!.systems, name)))
      throw new Error(`no system '${name}' is measured there`);
  }
  const rounds = Number(values.rounds ?? (against === undefined ? (stores[store]!.rounds ?? ROUNDS) : AGAINST.rounds));
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds takes a whole number from 1');
  const scale = Number(values.scale);
  if (!(scale > 0)) throw new Error('--scale takes a number above 0');
  const atLeast = values['at-least'] === undefined ? undefined : Number(values['at-least']);
  if (atLeast !== undefined && !(atLeast > 0)) throw new Error('--at-least takes a number above 0, such as 0.9');
  if (atLeast !== undefined && against === undefined) throw new Error('--at-least needs --against REF');
  return { store, workloads, systems, rounds, scale, json, postgresUrl, against, atLeast };
}
