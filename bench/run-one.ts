// One run of one system in a process of its own, so that neither memory nor warm code leaks from one run to the next.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { round } from './result.ts';
import { WORKLOADS } from './workloads/index.ts';

const [workload = '', system = '', scale = '1'] = process.argv.slice(2);
const folder = mkdtempSync(path.join(process.env['WAYBILL_BENCH_DIR'] ?? tmpdir(), 'waybill-bench-'));
const delay = monitorEventLoopDelay({ resolution: 5 });
try {
  delay.enable();
  const told = await WORKLOADS[workload]!.systems[system]!({ folder, scale: Number(scale) });
  const loop_p99_ms = round(delay.percentile(99) / 1e6);
  const rss_mb = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(JSON.stringify({ workload, system, loop_p99_ms, rss_mb, ...told }));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
