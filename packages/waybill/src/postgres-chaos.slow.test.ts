import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { engine, isJobEvent, type LoggedEvent, silentLogger, TERMINAL_EVENT_TYPES, type Waybill } from '@waybill/core';
import { postgresStore } from '@waybill/sql/postgres';
import { type PostgresServer, startPostgres } from '@waybill/sql/postgres/testing';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { type Connection, connectionTo } from './sdk/connect.ts';
import { chaosTask, type Note } from './testing/chaos-task.ts';
import { randomFrom } from './testing/seeded.ts';
import { WorkerFleet } from './testing/worker-fleet.ts';

const LEASE_MS = 2_000;
const WORKERS = 3;
const PRODUCERS = 6;
/** Jobs that wait at most; the producers pause above it. */
const BACKLOG = 300;
/** Each fault comes so often, in random order. */
const ROUNDS = 4;
const SEED = Number(process.env.WAYBILL_CHAOS_SEED ?? Date.now() % 1_000_000);

const folder = mkdtempSync(path.join(tmpdir(), 'waybill-chaos-'));
let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(async () => {
  await server.remove();
  rmSync(folder, { recursive: true, force: true });
});

const FAULTS = ['restart', 'crash', 'terminate', 'kill', 'pause'] as const;

/** Everything that can go wrong, one after another, each after some work was done since the last. */
async function chaos(fleet: WorkerFleet, random: (bound: number) => number): Promise<void> {
  const faults = Array.from({ length: ROUNDS }, () => [...FAULTS]).flat();
  while (faults.length > 0) {
    await fleet.progress(100 + random(200));
    const [fault] = faults.splice(random(faults.length), 1);
    if (fault === 'restart') await server.restart();
    else if (fault === 'crash') await server.crash();
    else if (fault === 'terminate') await terminateSome(random);
    else if (fault === 'kill') fleet.killOne(random);
    else await fleet.pauseOne(random);
  }
  await fleet.progress(100);
}

/** About half of the connections, among them those that listen. */
async function terminateSome(random: (bound: number) => number): Promise<void> {
  const admin = new pg.Client(server.url);
  await admin.connect();
  const others = "from pg_stat_activity where application_name = 'waybill'";
  const { rows } = await admin.query<{ pid: number }>(`select pid ${others}`);
  const chosen = rows.filter(() => random(2) === 0).map(({ pid }) => pid);
  await admin.query('select pg_terminate_backend(pid) from unnest($1::int[]) pid', [chosen]);
  await admin.end();
}

/** Enqueues until told to stop, and remembers what it was answered for. */
class Producers {
  readonly acknowledged = new Set<string>();
  readonly #waybill: Connection;
  readonly #fleet: WorkerFleet;
  readonly #task = chaosTask();
  /** Resolves after the stop; rejects as soon as a call is refused. */
  readonly done: Promise<unknown>;
  #isOver = false;
  #next = 0;

  constructor(waybill: Connection, fleet: WorkerFleet) {
    this.#waybill = waybill;
    this.#fleet = fleet;
    this.done = Promise.all(Array.from({ length: PRODUCERS }, (_, index) => this.#produce(index)));
  }

  stop(): void {
    this.#isOver = true;
  }

  async #produce(index: number): Promise<void> {
    while (!this.#isOver) {
      while (this.acknowledged.size - this.#fleet.ended > BACKLOG) await this.#fleet.progress(1);
      const inputs = Array.from({ length: index === 0 ? 20 : 1 }, () => ({ n: this.#next++ }));
      const jobs = index === 0 ? await this.#waybill.enqueueMany(this.#task, inputs) : [await this.#one(inputs[0]!)];
      for (const { id } of jobs) this.acknowledged.add(id);
    }
  }

  #one(input: { n: number }) {
    return this.#waybill.enqueue(this.#task, input);
  }
}

const UNFINISHED = ['scheduled', 'available', 'pending', 'active', 'retryable'] as const;

async function untilAllFinished(waybill: Waybill): Promise<void> {
  const query = { filter: { states: UNFINISHED }, limit: 1 };
  while ((await waybill.jobs.list(query)).items.length > 0);
}

async function eventsByJob(waybill: Waybill): Promise<Map<string, LoggedEvent[]>> {
  const byJob = new Map<string, LoggedEvent[]>();
  for (let after: string | undefined; ; ) {
    const page = await waybill.events.read({ limit: 1_000, ...(after !== undefined && { after }) });
    const ofRows = page.events.filter((event) => isJobEvent(event) && event.source === 'server');
    for (const event of ofRows) byJob.set(event.jobId!, [...(byJob.get(event.jobId!) ?? []), event]);
    if (page.atEnd) return byJob;
    after = page.cursor;
  }
}

interface Run {
  id: string;
  run: number;
  start: number;
  end: number | undefined;
}

/** What the workers themselves noted, in the order of the runs. */
function notedRuns(text: string): Run[] {
  const notes = text.split('\n').filter((line) => line !== '');
  const byRun = Map.groupBy(
    notes.map((line) => JSON.parse(line) as Note),
    ({ id, run }) => `${id} ${run}`,
  );
  const runs = [...byRun].map(([name, noted]) => {
    const starts = noted.filter(({ kind }) => kind === 'start');
    expect(starts.length, `guarantee 2: run ${name} was given out once`).toBe(1);
    const { id, run, at: start } = starts[0]!;
    return { id, run, start, end: noted.find(({ kind }) => kind === 'end')?.at };
  });
  return runs.sort((one, other) => one.run - other.run);
}

/** Guarantee 2 as the workers saw it: a run that outlasted the start of the next had lost its lease before. */
function checkRuns(runs: readonly Run[], events: readonly LoggedEvent[]): void {
  for (const [index, { run, end }] of runs.entries()) {
    const next = runs[index + 1];
    if (end === undefined || next === undefined || end <= next.start) continue;
    const expiry = events.find((event) => event.type === 'job.lease_expired' && event.run === run);
    expect(expiry, `run ${run} was live when run ${next.run} began`).toBeDefined();
  }
}

const ENDS_A_RUN = new Set([...TERMINAL_EVENT_TYPES, 'job.failed', 'job.requeued', 'job.snoozed', 'job.lease_expired']);

/** Guarantees 2 and 4 by the log of one job: its runs follow one another, and it ends once. */
function checkEvents(events: readonly LoggedEvent[]): void {
  expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));
  expect(events.filter(({ type }) => TERMINAL_EVENT_TYPES.has(type)).map(({ type }) => type)).toEqual([
    'job.completed',
  ]);
  let holder: LoggedEvent | undefined;
  for (const event of events) {
    if (event.type === 'job.started') {
      expect(holder, `run ${event.run} began while another was live`).toBeUndefined();
      holder = event;
    } else if (ENDS_A_RUN.has(event.type)) {
      expect(event.run, 'only the run that is live can end').toBe(holder?.run);
      if (event.type === 'job.lease_expired') expect(event.at - holder!.at).toBeGreaterThanOrEqual(LEASE_MS);
      holder = undefined;
    }
  }
}

/** By the server's own counters, which a crash sets back to zero. */
async function bundlesMade(): Promise<number> {
  const admin = new pg.Client(server.url);
  await admin.connect();
  const { rows } = await admin.query<{ made: string }>(
    "select n_tup_ins as made from pg_stat_user_tables where schemaname = 'chaos' and relname = 'bundles'",
  );
  await admin.end();
  return Number(rows[0]!.made);
}

// fault: PostgreSQL is restarted and crashes, connections are cut, workers are killed and stopped
test('guarantees 1, 2, 4, 10, 11: a server that is restarted and workers that are killed lose and double nothing', {
  timeout: 180_000,
}, async ({ annotate }) => {
  await annotate(`WAYBILL_CHAOS_SEED=${SEED}`);
  const notes = path.join(folder, 'notes');
  const store = await postgresStore({ url: server.url, schema: 'chaos' });
  const waybill = connectionTo(engine({ store, sweepEveryMs: 200, logger: silentLogger }));
  const fleet = new WorkerFleet('chaos-worker.js', { url: server.url, schema: 'chaos', notes, leaseMs: LEASE_MS });
  // Also when the time is over, which a `finally` would not notice.
  onTestFinished(async () => {
    await fleet.stop('SIGKILL');
    await waybill.close();
  });
  for (let n = 0; n < WORKERS; n += 1) fleet.start();
  const producers = new Producers(waybill, fleet);
  const over = chaos(fleet, randomFrom(SEED)).then(() => producers.stop());
  await Promise.all([over, producers.done]);
  await untilAllFinished(waybill);

  const log = await eventsByJob(waybill);
  expect(new Set(log.keys()), 'guarantee 1: all that was answered for, and nothing else').toEqual(
    producers.acknowledged,
  );
  for (const events of log.values()) checkEvents(events);

  const runs = notedRuns(readFileSync(notes, 'utf8'));
  for (const [id, ofJob] of Map.groupBy(runs, (run) => run.id)) checkRuns(ofJob, log.get(id)!);
  const done = new Set(runs.filter(({ end }) => end !== undefined).map(({ id }) => id));
  expect(done, 'every job was run to its end by somebody').toEqual(producers.acknowledged);

  // The faults were felt: whoever was killed had jobs in hand.
  const expired = [...log.values()].flat().filter(({ type }) => type === 'job.lease_expired');
  expect(expired.length).toBeGreaterThan(0);
  expect(producers.acknowledged.size).toBeGreaterThan(1_000);
  expect(await fleet.stop('SIGTERM')).toEqual(Array.from({ length: WORKERS }, () => 0));
  expect(await bundlesMade(), 'runs were in bundles').toBeGreaterThan(10);
});
