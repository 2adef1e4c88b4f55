import type { Result } from '../result.ts';
import type { Costs } from './costs.ts';
import { PRICES_TOLD, perMillion, type Units } from './prices.ts';

const METHOD = `jobs with 500 bytes of args, enqueued at once, claimed by tens, settled at once, through the engine;
  requests to SQS are counted one by one, units of DynamoDB are those that DynamoDB Local tells, indexes included, corrected
  by the documented billing rules (reads of what is not there, failed conditions, transactions). Nothing ran on AWS.
  An idle hour is measured for a minute at --scale 1: one process with upkeep and one worker that waits for one queue.`;

const STEPS: readonly [name: string, of: (costs: Costs) => Units | undefined][] = [
  ['enqueue', ({ enqueue }) => enqueue],
  ['claim', ({ claim }) => claim],
  ['settle', ({ settle }) => settle],
  ['whole job', ({ job }) => job],
  ['heartbeat', ({ heartbeat }) => heartbeat],
  ['idle hour', ({ idle_hour }) => idle_hour],
];

/** For people: what each step takes, and what a million of it costs. The last round stands for all. */
export function costTable(workload: string, systems: readonly string[], results: readonly Result[]): string {
  const lines = systems.flatMap((system) => {
    const { costs, settings, jobs } = results.findLast((result) => result.system === system)!;
    if (costs === undefined) return [];
    const rows = STEPS.flatMap(([name, of]) => row(name, of(costs)));
    const month = costs.usd_per_idle_month;
    const idle = month === undefined ? [] : [`    one idle process: ${month} USD a month`];
    return ['', `  ${system}: ${settings}, ${jobs} jobs`, HEAD, ...rows, ...idle];
  });
  return [workload, `  ${METHOD}`, `  ${PRICES_TOLD}`, ...lines].join('\n');
}

const WIDTHS = [12, 13, 13, 13, 16] as const;
const line = (cells: readonly string[]): string =>
  `    ${cells.map((cell, index) => (index === 0 ? cell.padEnd(WIDTHS[index]!) : cell.padStart(WIDTHS[index]!))).join('')}`;

const HEAD = line(['', 'write units', 'read units', 'SQS requests', 'USD per million']);

const row = (name: string, units: Units | undefined): string[] =>
  units === undefined
    ? []
    : [line([name, ...[units.write, units.read, units.sqs, perMillion(units)].map((value) => value.toFixed(2))])];
