import { loadavg } from 'node:os';
import type { NewEntry, Waybill } from '@waybill/core';
import { connect } from 'waybill';
import { withEngine } from '../embedded.ts';
import { BenchServer } from '../http/server.ts';
import { tableOf } from '../report.ts';
import { elapsed, type Result, type Run, scaled, type Told, type Workload } from '../result.ts';

const ENTRIES = 200_000;
const RUNS = 32;
export const PER_BATCH = 50;
const ENTRY_BYTES = 200;
/** Connections to the server, where there is one. */
const WORKERS = 8;

/** A line as a program writes it: much of it is as in the line before, and some of it is not. */
export function lineOf(n: number): Uint8Array {
  const told = `request ${n} took ${(n * 7_919) % 1_000} ms, ${(n * 104_729) % 100_000} bytes, id ${(n * 2_654_435_761) % 2 ** 32}`;
  const line = `${new Date(1_767_225_600_000 + n * 13).toISOString()} INFO api.orders GET /v1/orders/${n % 997}: ${told}`;
  return Buffer.from(
    line
      .padEnd(ENTRY_BYTES - 1, ' retry=false')
      .slice(0, ENTRY_BYTES - 1)
      .concat('\n'),
  );
}

export const entriesFrom = (first: number): NewEntry[] =>
  Array.from({ length: PER_BATCH }, (_, n) => ({
    ...{ sequence: first + n, type: 'output', stream: 'stdout', output: lineOf(first + n) },
  }));

/** Jobs that are under way, with their leases. */
export async function started(waybill: Waybill, count: number): Promise<{ id: string; leaseToken: string }[]> {
  const jobs = Array.from({ length: count }, () => ({ type: 'bench.journal', args: [], options: { queue: 'bench' } }));
  await waybill.jobs.enqueueMany(jobs);
  const leases = await waybill.jobs.claim({ queues: ['bench'], count, workerId: 'bench', leaseMs: 3_600_000 });
  return leases.map(({ job, token }) => ({ id: job.id, leaseToken: token }));
}

/** Runs that all speak at once, each with one call under way, as a worker's batches are. They share the connections. */
async function speak(connections: readonly Waybill[], scale: number): Promise<Told> {
  const batches = Math.ceil(scaled(ENTRIES, scale) / PER_BATCH / RUNS);
  const runs = await started(connections[0]!, RUNS);
  // Made before, since a worker has them from elsewhere; all runs say the same.
  const said = Array.from({ length: batches }, (_, n) => entriesFrom(1 + n * PER_BATCH));
  const begun = performance.now();
  await Promise.all(
    runs.map(async (lease, index) => {
      const { jobs } = connections[index % connections.length]!;
      for (const entries of said) {
        const { stored } = await jobs.append({ ...lease, entries });
        if (stored !== PER_BATCH) throw new Error(`${stored} of ${PER_BATCH} entries were stored.`);
      }
    }),
  );
  const seconds = elapsed(begun);
  const settings = `${RUNS} runs, ${PER_BATCH} entries of ${ENTRY_BYTES} bytes a call, load ${loadavg()[0]!.toFixed(1)}`;
  return { jobs: RUNS * batches * PER_BATCH, seconds, settings };
}

const embedded: Run = ({ store, scale }) => withEngine(store, (waybill) => speak([waybill], scale));

/** Workers as they are in other processes: each with a connection to one server. */
const overHttp: Run = async ({ store, scale }) => {
  const server = await BenchServer.waybill(store);
  const workers = await Promise.all(Array.from({ length: WORKERS }, () => connect(server.url)));
  try {
    const { settings, ...told } = await speak(workers, scale);
    return { ...told, settings: `${settings}, ${WORKERS} workers, server in a process of its own` };
  } finally {
    for (const worker of workers) await worker.close();
    await server.stop();
  }
};

// Loaded when run, as the other yardsticks are.
const raw: Run = async (task) =>
  (await import('../sqlite/raw-journal.ts')).rawJournal(scaled(ENTRIES, task.scale), task.folder);

/** Entries a second that one server is asked to sustain on a quiet machine. */
const ASKED = 10_000;

/** The ratio is that to raw inserts of the same batches. */
export function entriesTable(workload: string, systems: readonly string[], results: readonly Result[]): string {
  const table = tableOf(workload, systems, results, 'raw').replaceAll(/ jobs\b/g, ' entries');
  const rates = results.filter(({ system }) => system === 'server').map(({ jobs, seconds }) => jobs / seconds);
  if (rates.length === 0) return table;
  return `${table}\n  server: slowest round ${Math.round(Math.min(...rates))} entries/s (asked: at least ${ASKED})`;
}

export const journal: Workload = {
  systems: { waybill: embedded, server: overHttp, raw },
  yardstick: 'raw',
  report: entriesTable,
};
