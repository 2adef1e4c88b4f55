import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { engine } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { elapsed, type Told } from '../result.ts';
import { entriesFrom, PER_BATCH, started } from '../workloads/journal.ts';

/** As many as the engine puts into one flush at most, with 32 runs. */
const PER_COMMIT = 32;

/** The bodies that the engine makes of the same entries. */
async function bodiesOf(batches: number): Promise<Uint8Array[]> {
  const store = memoryStore();
  const waybill = engine({ store });
  const [lease] = await started(waybill, 1);
  const bodies: Uint8Array[] = [];
  for (let n = 0; n < batches; n += 1)
    await waybill.jobs.append({ ...lease!, entries: entriesFrom(1 + n * PER_BATCH) });
  for (let sequence = -1; ; ) {
    const asked = { tenant: '', id: lease!.id, after: { run: 1, sequence }, limit: 1_000, maxBytes: 2 ** 40 };
    const page = await store.journal!.read(asked);
    bodies.push(...page.batches.map(({ body }) => body));
    if (!page.more) break;
    sequence = page.batches.at(-1)!.last;
  }
  await waybill.close();
  return bodies;
}

/** The yardstick: the same bodies into a table without a key, on the main thread, with nothing else to do. */
export async function rawJournal(entries: number, folder: string): Promise<Told> {
  const distinct = await bodiesOf(200);
  const db = new DatabaseSync(path.join(folder, 'bench.db'));
  db.exec('pragma page_size = 8192; pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -4096');
  db.exec('create table raw (job text, first integer, last integer, body blob) strict');
  const insert = db.prepare('insert into raw values (?, ?, ?, ?)');
  const batches = Math.ceil(entries / PER_BATCH);
  const begun = performance.now();
  for (let made = 0; made < batches; made += PER_COMMIT) {
    db.exec('begin immediate');
    for (let n = made; n < Math.min(batches, made + PER_COMMIT); n += 1)
      insert.run(`job-${n % PER_COMMIT}`, n * PER_BATCH, n * PER_BATCH + PER_BATCH - 1, distinct[n % distinct.length]!);
    db.exec('commit');
  }
  const seconds = elapsed(begun);
  db.close();
  return { jobs: batches * PER_BATCH, seconds, settings: `the same bodies, ${PER_COMMIT} a commit, main thread` };
}
