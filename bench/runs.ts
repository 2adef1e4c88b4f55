import { runScript } from './child.ts';
import type { BenchOptions } from './options.ts';
import { scriptAt } from './paths.ts';
import type { Result } from './result.ts';
import type { RunOrder } from './run-one.ts';
import type { BenchStore, Host } from './stores/store.ts';

/** What a system's process is started with, as a user would who wants it so: see docs/worker.md. */
const FLAGS: Record<string, readonly string[]> = {
  'waybill-lean': ['--max-semi-space-size=4', '--max-old-space-size=256'],
};

/** What all runs of one call of `npm run bench` share. */
export interface Session {
  options: BenchOptions;
  store: BenchStore;
  host: Host;
  /** Where runs make their folders. */
  inside: string;
  /** Aborted when the process is asked to end. */
  signal: AbortSignal;
}

export const RUN_ONE = scriptAt('run-one');

export interface RunName {
  workload: string;
  system: string;
  /** Counted from 0. */
  round: number;
  /** `run-one` of the build that is measured. @defaultValue that of this build */
  script?: string;
}

export async function runOne(
  session: Session,
  { workload, system, round, script = RUN_ONE }: RunName,
): Promise<Result> {
  const { options, host, inside, signal } = session;
  const { store, scale } = options;
  const order: RunOrder = { inside, store, workload, system, scale, servers: host.servers };
  const printed = await runScript(script, order, { flags: FLAGS[system] ?? [], signal });
  const result = JSON.parse(printed.trim().split('\n').at(-1)!) as Result;
  const server = host.serverOf(system);
  return { ...result, round: round + 1, ...(server !== undefined && { server }) };
}
