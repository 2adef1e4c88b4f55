import type { Costs } from './aws/costs.ts';
import type { StatementTimes } from './postgres/statements.ts';
import type { Stall } from './worked.ts';

export interface Latency {
  p50_ms: number;
  p95_ms: number;
  p99_ms: number;
}

/** One run of one system on one workload; printed as one line of JSON. */
export interface Result {
  workload: string;
  system: string;
  /** Counted from 1. */
  round?: number;
  jobs: number;
  seconds: number;
  p50_ms?: number;
  p95_ms?: number;
  p99_ms?: number;
  /** Of the systems that took turns with this one. */
  beside?: (Latency & { system: string })[];
  rss_mb: number;
  loop_p99_ms?: number;
  /** What all threads of the system's process took. Says more than a rate where other programs run beside. */
  cpu_us_per_job?: number;
  /** Row versions that the run left behind for vacuum. */
  dead_tuples_per_job?: number;
  /** What took how long in the database, where it was watched. */
  statements?: StatementTimes;
  /** Stretches without a job that began. */
  stalls?: Stall[];
  /** What was counted instead of timed. */
  costs?: Costs;
  settings: string;
  /** The database server and how durable it was. */
  server?: string;
}

export type Told = Omit<Result, 'workload' | 'system' | 'round' | 'rss_mb' | 'server'>;

/** What a run is given: where to work and how much. All of it is fresh, and thrown away afterwards. */
export interface Task {
  folder: string;
  /** The address of the store, as `connect` takes it. */
  store: string;
  /** Another such address, for who takes turns with the one that has `store`. */
  another?(): Promise<string>;
  /** The address of a Redis, where there is one. */
  redis?: string;
  /** The addresses of AWS's emulators. */
  dynamodb?: string;
  sqs?: string;
  /** Scales the number of jobs; 1 is the documented size. */
  scale: number;
}

export type Run = (task: Task) => Promise<Told>;

export interface Workload {
  /** In the order in which they run side by side in the first round. */
  systems: Record<string, Run>;
  /** The system that the others are compared with. */
  yardstick?: string;
  /** For people, where it is something else than a rate. */
  report?(workload: string, systems: readonly string[], results: readonly Result[]): string;
}

export const perSecond = ({ jobs, seconds }: Pick<Result, 'jobs' | 'seconds'>): number => jobs / seconds;

/** What a run is judged by: a median wait where waits were timed, else the time that a job took. */
export const timePerJob = ({ p50_ms, jobs, seconds }: Pick<Result, 'p50_ms' | 'jobs' | 'seconds'>): number =>
  p50_ms ?? (seconds * 1_000) / jobs;

export function percentile(sorted: readonly number[], share: number): number {
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const [below, above] = [Math.ceil(sorted.length / 2) - 1, Math.floor(sorted.length / 2)];
  return round((sorted[below]! + sorted[above]!) / 2, 6);
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));

export const elapsed = (since: number): number => round((performance.now() - since) / 1_000, 3);

/** Even a small run has a few jobs, else a rate would be that of starting up. */
export const scaled = (documented: number, scale: number): number =>
  Math.max(Math.min(documented, 5), Math.round(documented * scale));
