import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { ownPostgres } from './postgres/testing/server.ts';
import { tempFile } from './sqlite/testing/temp-store.ts';
import { LOG_FLAGS } from './testing/soak/postgres-log.ts';
import type { Levels, SoakReport } from './testing/soak/week.ts';

const CHILD = new URL('./testing/soak/child.ts', import.meta.url).pathname;
const TIMEOUT_MS = 240_000;

/** In a process of its own, whose memory is nobody else's. */
async function soakedIn(...args: string[]): Promise<SoakReport> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--expose-gc', CHILD, ...args], { maxBuffer: 64 * 1024 * 1024 });
  return JSON.parse(stdout) as SoakReport;
}

/** How many rows stay when everything is over. A new table needs a line here: what removes its rows? */
const COMMON = {
  crons: 1, // the one that was set up
  edges: 0,
  event_segments: 0,
  journal: 0,
  limits: 1, // the one that was set
  locks: 0, // of the names that servers take; none does here
  progress: 0,
  queues: 1, // the one that is paused
  records: 0,
  subjects: 0,
  tenant_limits: 0,
  unique_keys: 0,
  workers: 0,
  workflow_nodes: 0,
  workflows: 0,
};

const LEFT = {
  sqlite: { ...COMMON, jobs: 0 },
  postgres: {
    ...COMMON,
    bundle_ends: 0,
    bundles: 0,
    claims: 0,
    idempotency_keys: 0,
    job_bodies: 0,
    job_ends: 0,
    jobs_live: 0,
    journal_tenants: 0,
    limit_starts: 0,
    log_state: 1, // always one
    migrations: expect.any(Number), // one for each migration
    queue_starts: 0,
    queue_totals: 0,
  },
  model: { jobs: 0, queues: 1, workers: 0, crons: 1, workflows: 0, events: 0 },
} satisfies Record<string, Record<string, unknown>>;

/** Sizes that have no exact end, and by how much a day may differ from the level before it. */
const SIZES: Record<string, { factor: number; more: number }> = {
  'heap bytes': { factor: 1.25, more: 4_000_000 },
  handles: { factor: 1, more: 2 },
  'log bytes': { factor: 1.25, more: 1_000_000 },
  'log bytes written': { factor: 1.25, more: 200_000 },
  'open transactions': { factor: 1, more: 0 },
  'replication slots': { factor: 1, more: 0 },
  'table bytes': { factor: 1.1, more: 0 },
  'transactions since xmin': { factor: 1, more: 5 },
  'used pages': { factor: 1.1, more: 10 },
  partitions: { factor: 1, more: 2 },
};

const rowsIn = (levels: Levels): Levels =>
  Object.fromEntries(Object.entries(levels).filter(([name]) => !(name in SIZES)));

function check(report: SoakReport, left: Record<string, unknown>): void {
  const { level, weeks, end, warnings } = report;
  const days = weeks.flat();
  expect(warnings).toEqual([]);
  expect(rowsIn(end)).toEqual(left);
  for (const [name, before] of Object.entries(level)) {
    const { factor, more } = SIZES[name] ?? { factor: 1.1, more: 5 };
    for (const [day, levels] of days.entries()) {
      expect(levels[name], `${name} after day ${day + 1}`).toBeLessThanOrEqual(before * factor + more);
    }
    expect(end[name], `${name} at the end`).toBeLessThanOrEqual(before * factor + more);
  }
}

/** By how much the log of the second week may exceed that of the first: days differ by a tenth, weeks by three percent. */
const MORE_LOG = 1.1;

/** A server removes old log and dead rows only while nobody holds them, and the store writes no more as it ages. */
function checkLog({ start, level, weeks, end }: SoakReport): void {
  for (const levels of [start, level, ...weeks.flat(), end]) {
    expect(levels).toMatchObject({ 'open transactions': 0, 'replication slots': 0 });
  }
  const [first, second] = weeks.map((days) => days.reduce((sum, levels) => sum + levels['log bytes written']!, 0));
  expect(first, 'that there was something to log').toBeGreaterThan(1_000_000);
  expect(second, 'log of the second week').toBeLessThanOrEqual(first! * MORE_LOG);
}

describe('two weeks of jobs, crons, dead letters and workers that come and go', () => {
  test('A22: leaves nothing behind on SQLite', { timeout: TIMEOUT_MS }, async () => {
    const report = await soakedIn('sqlite', tempFile());
    check(report, LEFT.sqlite);
    expect(report.level['jobs'], 'that there was something to leave').toBeGreaterThan(200);
  });

  test('A22: leaves nothing behind on PostgreSQL', { timeout: TIMEOUT_MS }, async () => {
    // The log is that of a whole server, so no other test may write to it.
    const { url } = await ownPostgres(LOG_FLAGS);
    const report = await soakedIn('postgres', url, 'soak');
    check(report, LEFT.postgres);
    checkLog(report);
    expect(report.level['job_bodies'], 'that there was something to leave').toBeGreaterThan(200);
    // Three days ahead, today, and what is kept: of each of the three tables, and their default partitions.
    expect(report.end['partitions']).toBeLessThanOrEqual(3 * (1 + 4 + 3));
  });

  test('A22: leaves nothing behind in the model', { timeout: TIMEOUT_MS }, async () => {
    const report = await soakedIn('model');
    check(report, LEFT.model);
    expect(report.level['jobs'], 'that there was something to leave').toBeGreaterThan(200);
  });
});
