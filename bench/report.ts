import { type Latency, median, perSecond, type Result, round } from './result.ts';
import { slowestRound, slowRounds } from './slow-rounds.ts';

/** Medians for people. The ratio is the median over rounds of a system against the yardstick of the same round. */
export function tableOf(
  workload: string,
  systems: readonly string[],
  results: readonly Result[],
  yardstick: string | undefined,
): string {
  const width = Math.max(...systems.map((system) => system.length));
  const lines = systems.flatMap((system) => {
    const own = results.filter((result) => result.system === system);
    const compared = yardstick !== undefined && system !== yardstick && systems.includes(yardstick);
    const parts = [
      system.padEnd(width),
      `${rateOf(own).padStart(9)} jobs/s`,
      own[0]!.p50_ms === undefined ? '' : latencies(own),
      compared ? comparison(results, system, yardstick) : '',
      own[0]!.cpu_us_per_job === undefined ? '' : cpuOf(results, system, compared ? yardstick : undefined),
      own[0]!.dead_tuples_per_job === undefined ? '' : `${medianOf(own, 'dead_tuples_per_job')} dead tuples per job`,
      `loop p99 ${medianOf(own, 'loop_p99_ms')} ms`,
      `${medianOf(own, 'rss_mb')} MB`,
      `${own[0]!.jobs} jobs`,
      slowestRound(own),
      own.at(-1)!.settings,
    ];
    const line = `  ${parts.filter((part) => part !== '').join('  ')}`;
    return [line, ...slowRounds(own).map((told) => `  ${' '.repeat(width)}  ${told}`)];
  });
  return [workload, ...serversOf(results), ...lines].join('\n');
}

/** For systems that took turns in one process: the times of each, and those of the first in parts of the others'. */
export function besideTableOf(workload: string, systems: readonly string[], results: readonly Result[]): string {
  const lines = systems.flatMap((system) => {
    const own = results.filter((result) => result.system === system);
    const peers = own[0]!.beside!.map((peer) => peer.system);
    const width = Math.max(...[system, ...peers].map((name) => name.length));
    return [
      `  ${system.padEnd(width)}  ${latencies(own)}`,
      ...peers.map((peer, index) => {
        const theirs = own.map((result) => result.beside![index]!);
        const ratios = (['p50_ms', 'p95_ms', 'p99_ms'] as const).map((name: keyof Latency) => {
          const parts = own.map((result, round) => result[name]! / theirs[round]![name]);
          return `${name.slice(0, 3)} ${spread(parts)}`;
        });
        return `  ${peer.padEnd(width)}  ${latencies(theirs)}  ${system} ${ratios.join(', ')} of its time`;
      }),
    ];
  });
  return [workload, ...serversOf(results), ...lines].join('\n');
}

export const serversOf = (results: readonly Result[]): string[] =>
  [...new Set(results.map(({ server }) => server))]
    .filter((server) => server !== undefined)
    .map((server) => `  on ${server}`);

export function rateOf(own: readonly Result[]): string {
  const rate = median(own.map(perSecond));
  return rate.toLocaleString('en', { maximumFractionDigits: rate < 100 ? 1 : 0 });
}

export const latencies = (own: readonly Partial<Latency>[]): string =>
  `p50 ${medianOf(own, 'p50_ms')}  p95 ${medianOf(own, 'p95_ms')}  p99 ${medianOf(own, 'p99_ms')} ms`;

function cpuOf(results: readonly Result[], system: string, yardstick: string | undefined): string {
  const cpu = ({ cpu_us_per_job: us = 0 }: Result) => us;
  const text = `cpu ${medianOf(
    results.filter((result) => result.system === system),
    'cpu_us_per_job',
  )} us/job`;
  return yardstick === undefined ? text : `${text}, ${ratioOf(results, system, yardstick, cpu)} times`;
}

type Measure = 'p50_ms' | 'p95_ms' | 'p99_ms' | 'loop_p99_ms' | 'rss_mb' | 'dead_tuples_per_job' | 'cpu_us_per_job';

const medianOf = <M extends Measure>(own: readonly Partial<Record<M, number>>[], name: M): number =>
  round(median(own.map((result) => result[name] ?? 0)));

/** A rate is better when it is higher, a time when it is lower. */
function comparison(results: readonly Result[], system: string, yardstick: string): string {
  if (results[0]!.p50_ms === undefined) return `${ratioOf(results, system, yardstick)} of ${yardstick}`;
  const [p50, p99] = [({ p50_ms }: Result) => p50_ms!, ({ p99_ms }: Result) => p99_ms!].map((time) =>
    ratioOf(results, system, yardstick, time),
  );
  return `p50 ${p50} and p99 ${p99} of the time of ${yardstick}`;
}

export function ratioOf(
  results: readonly Result[],
  system: string,
  yardstick: string,
  measure: (result: Result) => number = perSecond,
): string {
  const measured = (name: string) => results.filter((result) => result.system === name).map(measure);
  const [ours, theirs] = [measured(system), measured(yardstick)];
  return spread(ours.map((value, round) => value / theirs[round]!));
}

export const spread = (ratios: readonly number[]): string =>
  `${short(median(ratios))} (${short(Math.min(...ratios))}..${short(Math.max(...ratios))})`;

/** Two places are enough, unless they would be noughts. */
const short = (ratio: number): string => (ratio < 0.1 ? String(Number(ratio.toPrecision(2))) : ratio.toFixed(2));
