import { execFile } from 'node:child_process';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { newJobId } from '@waybill/core';
import { connect, task } from 'waybill';
import { ARGS, JOB, withEngine } from '../ours.ts';
import { BATCH, RawTable } from '../raw.ts';
import { elapsed, percentile, type Task, type Workload } from '../result.ts';

const JOBS = 100_000;
const CONCURRENCY = 100;
const PREFETCH = 500;
const SPEC = JSON.stringify({ args: ARGS, meta: {} });

const FILL = fileURLToPath(new URL('../fill.ts', import.meta.url));

async function fill(folder: string, jobs: number): Promise<void> {
  await promisify(execFile)(process.execPath, [FILL, folder, String(jobs)]);
}

function fillRaw(table: RawTable, jobs: number): void {
  for (let made = 0; made < jobs; made += BATCH)
    table.insertBatch(
      Array.from({ length: BATCH }, () => newJobId(Date.now())),
      SPEC,
    );
}

/** The worker as a user has it, with a handler that does nothing. */
async function work(folder: string, jobs: number): Promise<number> {
  const waybill = await connect(`sqlite:${path.join(folder, 'bench.db')}`);
  let done = 0;
  let finish: () => void = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const noop = task('bench.job', {
    queue: 'bench',
    run: async () => {
      done += 1;
      if (done === jobs) finish();
      return null;
    },
  });
  const begun = performance.now();
  const worker = waybill.work([noop], { concurrency: CONCURRENCY, prefetch: PREFETCH });
  await finished;
  // The last outcomes are written before the worker has stopped.
  await worker.stop();
  const seconds = elapsed(begun);
  await waybill.close();
  return seconds;
}

function workRaw(table: RawTable): number {
  const begun = performance.now();
  for (let ids = table.claimBatch(); ids.length > 0; ids = table.claimBatch()) table.completeBatch(ids);
  return elapsed(begun);
}

export const drain: Workload = {
  systems: {
    waybill: async ({ folder, scale }) => {
      const jobs = Math.round(JOBS * scale);
      await fill(folder, jobs);
      const settings = `one worker process, no-op handler, concurrency ${CONCURRENCY}, prefetch ${PREFETCH}`;
      return { jobs, seconds: await work(folder, jobs), settings };
    },
    raw: async ({ folder, scale }: Task) => {
      const jobs = Math.round(JOBS * scale);
      const table = new RawTable(folder);
      fillRaw(table, jobs);
      return { jobs, seconds: workRaw(table), settings: `claim and complete in ${BATCH}s, main thread` };
    },
  },
};

const HISTORY = 1_000_000;

/** Puts finished and scheduled rows beside, straight by SQL: filling is not what is measured. */
function addHistory(folder: string, count: number): void {
  const db = new DatabaseSync(path.join(folder, 'bench.db'));
  const columns = (db.prepare('pragma table_info(jobs)').all() as { name: string }[]).map(({ name }) => name);
  const values: Record<string, string> = {
    ...{
      tenant: `''`,
      type: `'bench.job'`,
      queue: `'bench'`,
      priority: '0',
      seq: 'n',
      version: '1',
      run: '0',
      attempt: '0',
    },
    ...{ max_attempts: '3', dead: '0', holds_slot: '0', advance_pending: '0', created_at: '1', spec: `'${SPEC}'` },
  };
  const insert = (state: Record<string, string>) => {
    const all = { ...values, ...state };
    const select = columns.map((name) => all[name] ?? 'null').join(', ');
    db.exec(
      `with recursive c(n) as (select 1 union all select n + 1 from c where n < ${count}) insert into jobs select ${select} from c`,
    );
  };
  insert({
    id: `printf('01900000-0000-7000-8000-%012d', n)`,
    state: `'completed'`,
    finished_at: String(Date.now()),
    outcome: `'completed'`,
  });
  insert({
    id: `printf('01900000-0000-7000-8001-%012d', n)`,
    state: `'scheduled'`,
    next_at: '4000000000000 + n',
    scheduled_at: '4000000000000 + n',
  });
  db.close();
}

export const drainHistory: Workload = {
  systems: {
    waybill: async ({ folder, scale }) => {
      const jobs = Math.round(JOBS * scale);
      const count = Math.round(HISTORY * scale);
      // The engine makes the file, so that it is its own; the history goes in while it is closed.
      await withEngine(folder, async () => {});
      addHistory(folder, count);
      await fill(folder, jobs);
      return {
        jobs,
        seconds: await work(folder, jobs),
        settings: `${count} finished and ${count} scheduled rows beside`,
      };
    },
    'without-history': drain.systems['waybill']!,
  },
};

/** From the enqueue call to the moment at which a waiting worker has the job. */
export const latency: Workload = {
  systems: {
    waybill: ({ folder, scale }) =>
      withEngine(folder, async (waybill) => {
        const jobs = Math.round(1_000 * scale);
        const sent = new Map<string, number>();
        const waits: number[] = [];
        const worker = (async () => {
          while (waits.length < jobs) {
            for (const { job, token } of await waybill.jobs.claim({ queues: ['bench'], count: 10, waitMs: 5_000 })) {
              waits.push(performance.now() - sent.get(job.spec.meta['n'] as string)!);
              void waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
            }
          }
        })();
        const begun = performance.now();
        for (let n = 0; n < jobs; n += 1) {
          sent.set(String(n), performance.now());
          void waybill.jobs.enqueue({ ...JOB, meta: { n: String(n) } });
          await new Promise((resolve) => setTimeout(resolve, Math.max(0, begun + (n + 1) * 10 - performance.now())));
        }
        await worker;
        const seconds = elapsed(begun);
        waits.sort((a, b) => a - b);
        const [p50_ms, p95_ms, p99_ms] = [0.5, 0.95, 0.99].map((share) => percentile(waits, share));
        return {
          jobs,
          seconds,
          p50_ms: p50_ms!,
          p95_ms: p95_ms!,
          p99_ms: p99_ms!,
          settings: '100 jobs/s, one waiting worker',
        };
      }),
  },
};
