import { spawnSync } from 'node:child_process';
// @ts-expect-error: the package has no types.
import parse from 'parse-prometheus-text-format';

export interface PrometheusFamily {
  name: string;
  help: string;
  type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'SUMMARY' | 'UNTYPED';
  metrics: { value?: string; labels?: Record<string, string>; count?: string; buckets?: Record<string, string> }[];
}

/** Reads a text of Prometheus with a parser that is not ours. */
export const parsePrometheus = parse as (text: string) => PrometheusFamily[];

/** The tool of Prometheus itself, from Debian's package. In CI it must be there, so its tests are not skipped. */
export const canRunPromtool = spawnSync('promtool', ['--version']).status === 0 || process.env['CI'] === 'true';

/** Answers the exit code and everything that was printed. */
export function promtool(args: readonly string[], input?: string): { status: number | null; printed: string } {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8', timeout: 60_000, input });
  return { status, printed: `${stdout}${stderr}` };
}
