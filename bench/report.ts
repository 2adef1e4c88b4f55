import { perSecond, type Result } from './result.ts';

/** Medians for people. The ratio is the median over rounds of ours against the yardstick of the same round. */
export function tableOf(workload: string, results: readonly Result[]): string {
  const systems = [...new Set(results.map(({ system }) => system))];
  const yardstick = systems.length > 1 ? systems.at(-1)! : undefined;
  const lines = systems.map((system) => {
    const own = results.filter((result) => result.system === system);
    const parts = [
      system.padEnd(12),
      `${Math.round(median(own.map(perSecond)))
        .toLocaleString('en')
        .padStart(9)} jobs/s`,
      own[0]!.p50_ms === undefined ? '' : latencies(own),
      `loop p99 ${median(own.map(({ loop_p99_ms }) => loop_p99_ms ?? 0))} ms`,
      `${median(own.map(({ rss_mb }) => rss_mb))} MB`,
      yardstick === undefined || system === yardstick ? '' : `${ratioOf(results, system, yardstick)} of ${yardstick}`,
      own.at(-1)!.settings,
    ];
    return `  ${parts.filter((part) => part !== '').join('  ')}`;
  });
  return [workload, ...lines].join('\n');
}

function latencies(own: readonly Result[]): string {
  const of = (name: 'p50_ms' | 'p95_ms' | 'p99_ms') => median(own.map((result) => result[name] ?? 0));
  return `p50 ${of('p50_ms')}  p95 ${of('p95_ms')}  p99 ${of('p99_ms')} ms`;
}

function ratioOf(results: readonly Result[], system: string, yardstick: string): string {
  const speeds = (name: string) => results.filter((result) => result.system === name).map(perSecond);
  const [ours, theirs] = [speeds(system), speeds(yardstick)];
  const ratios = ours.map((speed, round) => speed / theirs[round]!);
  return `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)})`;
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)]!;
}
