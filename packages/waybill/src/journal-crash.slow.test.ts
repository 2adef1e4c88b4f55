import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type JournalEntry, silentLogger } from '@waybill/core';
import { expect, onTestFinished, test } from 'vitest';
import { type Connection, connect } from './sdk/connect.ts';
import { ENTRIES, type ReaderNote, sayingTask } from './testing/journal-task.ts';
import { randomFrom } from './testing/seeded.ts';
import { ServerProcess } from './testing/server-process.ts';
import { tempDatabase } from './testing/temp-database.ts';
import { WorkerFleet } from './testing/worker-fleet.ts';

const JOBS = 200;
const LEASE_MS = 3_000;
const WORKERS = 2;
const READERS = 2;
/** Each fault comes so often, in random order. */
const FAULTS = { server: 4, worker: 5, reader: 9 } as const;
/** What a reader has kept between two faults. */
const [LEAST_BETWEEN, MOST_BETWEEN] = [100, 350];
const SEED = Number(process.env.WAYBILL_CHAOS_SEED ?? Date.now() % 1_000_000);

/** The server, killed and started again at the same address. */
class RestartedServer {
  readonly #args: readonly string[];
  #running: ServerProcess;

  private constructor(args: readonly string[], running: ServerProcess) {
    this.#args = args;
    this.#running = running;
  }

  static async start(store: string): Promise<RestartedServer> {
    const args = ['serve', '--store', store, '--port'];
    const running = await ServerProcess.start([...args, '0']);
    return new RestartedServer([...args, new URL(running.url).port], running);
  }

  get url(): string {
    return this.#running.url;
  }

  async kill(): Promise<void> {
    await this.#running.end('SIGKILL');
    this.#running = await ServerProcess.start(this.#args);
  }

  end(signal: NodeJS.Signals): Promise<number | null> {
    return this.#running.end(signal);
  }
}

interface Parts {
  server: RestartedServer;
  workers: WorkerFleet;
  readers: WorkerFleet[];
}

/**
 * Kills one process after the other, each after a reader has got some entries since the last. The readers go on while one of
 * them is started again, so one may have everything before all faults were injected: then there is nothing left to disturb.
 */
async function chaos({ server, workers, readers }: Parts, random: (bound: number) => number): Promise<void> {
  const faults = Object.entries(FAULTS).flatMap(([what, times]) => Array.from({ length: times }, () => what));
  for (let turn = 0; faults.length > 0; turn += 1) {
    const reader = readers[turn % READERS]!;
    const kept = reader.progress(LEAST_BETWEEN + random(MOST_BETWEEN - LEAST_BETWEEN));
    await Promise.race([kept, reader.told('finished')]);
    if (reader.hasTold('finished')) return;
    const [fault] = faults.splice(random(faults.length), 1);
    if (fault === 'server') await server.kill();
    else if (fault === 'worker') workers.killOne(random);
    else readers[random(READERS)]!.killOne(() => 0);
  }
}

async function journalOf(waybill: Connection, id: string, run?: number): Promise<JournalEntry[]> {
  const entries: JournalEntry[] = [];
  for (let cursor: string | undefined; ; ) {
    // Small pages, so that a journal has several.
    const query = { limit: 70, ...(run !== undefined && { run }), ...(cursor !== undefined && { cursor }) };
    const page = await waybill.jobs.journal(id, query);
    expect(page.missed).toBe(false);
    entries.push(...page.entries);
    if (page.atEnd) return entries;
    ({ cursor } = page);
  }
}

const notesIn = (file: string): ReaderNote[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

const plain = ({ run, sequence, data }: Pick<ReaderNote, 'run' | 'sequence' | 'data'>) => ({ run, sequence, data });

/** Answers the runs that have said something. */
async function checkJob(waybill: Connection, id: string, notes: readonly ReaderNote[]): Promise<number> {
  const job = await waybill.jobs.get(id);
  expect(job.state, `the state of ${id}`).toBe('completed');
  const journal = await journalOf(waybill, id);
  const byRun = Map.groupBy(journal, ({ run }) => run);
  expect([...byRun.keys()], 'runs follow one another').toEqual([...byRun.keys()].toSorted((a, b) => a - b));
  for (const [run, entries] of byRun) {
    const expected = entries.map((_, index) => ({ run, sequence: index + 1, data: { n: index + 1, run } }));
    expect(entries.map(plain), `what run ${run} of ${id} has said`).toEqual(expected);
    expect((await journalOf(waybill, id, run)).map(plain), `run ${run} of ${id} alone`).toEqual(expected);
  }
  expect(byRun.get(job.run)?.length, `the run that completed ${id} has said all`).toBe(ENTRIES);
  const told = notes.map(({ kind, ...note }) => (kind === 'entry' ? plain(note) : kind));
  expect(told, `what a reader of ${id} got`).toEqual([...journal.map(plain), 'end']);
  return byRun.size;
}

const STORES: Record<string, (folder: string) => Promise<string>> = {
  SQLite: async (folder) => `sqlite:${path.join(folder, 'journal.db')}`,
  PostgreSQL: () => tempDatabase(),
};

// fault: readers, workers and the server are killed with SIGKILL while jobs speak
test.each(Object.keys(STORES))(
  'a reader that resumes gets exactly the journal, whatever is killed: %s',
  {
    timeout: 300_000,
  },
  async (name) => {
    console.log(`WAYBILL_CHAOS_SEED=${SEED}`);
    const random = randomFrom(SEED);
    const folder = mkdtempSync(path.join(tmpdir(), 'waybill-journal-crash-'));
    const address = await STORES[name]!(folder);
    const server = await RestartedServer.start(address);
    const { url } = server;
    const waybill = await connect(url, { logger: silentLogger });
    const fleets: WorkerFleet[] = [];
    // Also when the time is over, which a `finally` would not notice.
    onTestFinished(async () => {
      await Promise.all(fleets.map((fleet) => fleet.stop('SIGKILL')));
      await waybill.close();
      await server.end('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    });

    const inputs = Array.from({ length: JOBS }, (_, n) => ({ n }));
    const ids = (await waybill.enqueueMany(sayingTask(), inputs)).map(({ id }) => id);
    const files = Array.from({ length: READERS }, (_, n) => path.join(folder, `reader-${n}`));
    const readers = files.map((notes, index) => {
      const jobs = ids.filter((_, n) => n % READERS === index);
      return new WorkerFleet('journal-reader.js', { url, jobs, notes });
    });
    const workers = new WorkerFleet('journal-worker.js', {
      url,
      outbox: path.join(folder, 'outbox'),
      leaseMs: LEASE_MS,
    });
    fleets.push(...readers, workers);
    for (const reader of readers) reader.start();
    for (let n = 0; n < WORKERS; n += 1) workers.start();

    await chaos({ server, workers, readers }, random);
    await Promise.all(readers.map((reader) => reader.told('finished')));

    const notes = Map.groupBy(files.flatMap(notesIn), ({ job }) => job);
    expect(notes.size).toBe(JOBS);
    let rescued = 0;
    for (const id of ids) if ((await checkJob(waybill, id, notes.get(id)!)) > 1) rescued += 1;
    // The faults were felt: a worker had something to say when it was killed, and readers were in the midst of a journal.
    expect(rescued, 'jobs of which several runs have spoken').toBeGreaterThan(0);
    expect(readers.map((reader) => reader.hasTold('resumed'))).toContain(true);
    expect(await Promise.all(fleets.map((fleet) => fleet.stop('SIGTERM')))).toEqual([[0], [0], [0, 0]]);
    expect(await server.end('SIGTERM')).toBe(0);
  },
);
