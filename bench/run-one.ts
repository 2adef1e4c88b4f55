// node run-one.ts ORDER: one run of one system in a process of its own, so that neither memory nor warm code leaks from
// one run to the next. The order is JSON; so is the one line that it prints.
import { mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { round } from './result.ts';
import { STORES } from './stores/index.ts';
import type { Servers } from './stores/store.ts';

export interface RunOrder {
  /** Where the run makes a folder of its own. */
  inside: string;
  store: string;
  workload: string;
  system: string;
  scale: number;
  servers: Servers;
}

const { inside, store: name, workload, system, scale, servers } = JSON.parse(process.argv[2]!) as RunOrder;
const store = await STORES[name]!();
const folder = mkdtempSync(path.join(inside, 'run-'));
const { remove, ...place } = await store.place(folder, servers);
const delay = monitorEventLoopDelay({ resolution: 5 });
try {
  delay.enable();
  const told = await store.workloads[workload]!.systems[system]!({ folder, scale, ...place });
  const loop_p99_ms = round(delay.percentile(99) / 1e6);
  const rss_mb = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(JSON.stringify({ workload, system, loop_p99_ms, rss_mb, ...told }));
} finally {
  await remove();
  rmSync(folder, { recursive: true, force: true });
}
