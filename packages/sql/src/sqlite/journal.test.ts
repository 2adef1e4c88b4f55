import { DatabaseSync } from 'node:sqlite';
import { type AppendRequest, engine, folderBlobStore, type Job, type Store, silentLogger } from '@waybill/core';
import { settleChange } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { appendMessage } from './messages.ts';
import { add, claimRequest, inChild, openStore, tempFile, tempFolder } from './testing/temp-store.ts';

async function start(store: Store): Promise<Job> {
  const [job] = await add(store, {});
  const [claimed] = await store.claim([claimRequest(job!.id)]);
  return claimed![0]!;
}

const requestOf = ({ tenant, id, run, claimId }: Job, n: number, body: Uint8Array = Buffer.of(n)): AppendRequest => ({
  ...{ tenant, id, by: { run, claimId: claimId! }, weight: body.length, now: Date.now() },
  batch: { first: n, last: n, firstAt: 1, lastAt: 1, types: ['output'], body },
});

async function say(store: Store, job: Job, ...sequences: number[]): Promise<void> {
  const answers = await store.journal!.append(sequences.map((n) => requestOf(job, n)));
  expect(answers.map(({ status }) => status)).toEqual(sequences.map(() => 'stored'));
}

const complete = (store: Store, job: Job) =>
  store.apply([settleChange(job, { kind: 'completed', result: null }, Date.now())]);

function execute(path: string, text: string): void {
  const db = new DatabaseSync(path);
  db.exec(text);
  db.close();
}

const batchesOf = (path: string): number => {
  const db = new DatabaseSync(path);
  const [count] = Object.values(db.prepare('select count(*) from journal').get()!);
  db.close();
  return Number(count);
};

type Ids = readonly string[] | undefined;

/** Listens, and resolves once the thread of the store watches the file. */
async function listen(store: Store): Promise<{ told: Ids[]; heard(wanted: (ids: Ids) => boolean): Promise<void> }> {
  const told: Ids[] = [];
  let next = Promise.withResolvers<void>();
  const stop = store.journal!.onGrown((ids) => {
    told.push(ids);
    next.resolve();
    next = Promise.withResolvers();
  });
  onTestFinished(stop);
  await store.ping();
  const heard = async (wanted: (ids: Ids) => boolean): Promise<void> => {
    while (!told.some(wanted)) await next.promise;
  };
  return { told, heard };
}

const of =
  ({ id }: Job) =>
  (ids: Ids): boolean =>
    ids?.includes(id) ?? false;

describe('journals in a file that others use too', () => {
  it("another process's append is heard, with the id of the job", async () => {
    const path = tempFile();
    const store = await openStore({ path, wakeEveryMs: 5 });
    const [job, other] = [await start(store), await start(store)];
    await say(store, other, 1);
    const { heard, told } = await listen(store);
    const code = `
      const store = await sqliteStore({ path });
      const batch = { first: 1, last: 2, firstAt: 1, lastAt: 1, types: ['output'], body: Buffer.from('hello') };
      const request = { tenant: '', id: '${job.id}', by: 'anyone', batch, weight: 1, now: 1 };
      console.log(JSON.stringify(await store.journal.append([request])));
      await store.close();`;
    expect(JSON.parse(await inChild(path, code))).toMatchObject([{ status: 'stored' }]);
    await heard(of(job));
    expect(told.flat()).not.toContain(other.id);
    const { batches } = await store.journal!.read({ tenant: '', id: job.id, limit: 10, maxBytes: 1_000 });
    expect(batches.map(({ body }) => Buffer.from(body).toString())).toEqual(['hello']);
  });

  // fault: the newest batch is removed, and its number could be given again
  it('what follows a removed batch is heard too', async () => {
    const path = tempFile();
    const [writer, reader] = [await openStore({ path }), await openStore({ path, wakeEveryMs: 5 })];
    const [first, second] = [await start(writer), await start(writer)];
    const { heard } = await listen(reader);
    await say(writer, first, 1);
    await heard(of(first));
    await complete(writer, first);
    await writer.prune({ finishedBefore: Date.now() + 1, deadBefore: 0, eventsBefore: 0, limit: 10 });
    expect(batchesOf(path)).toBe(0);
    await say(writer, second, 1);
    await heard(of(second));
  });

  it('more than can be named is told of as any', async () => {
    const path = tempFile();
    const [writer, reader] = [await openStore({ path }), await openStore({ path, wakeEveryMs: 5 })];
    const job = await start(writer);
    const { heard } = await listen(reader);
    await say(writer, job, ...Array.from({ length: 1_000 }, (_, n) => n));
    await heard((ids) => ids === undefined);
  });

  it('own appends are told of with their commit, and to nobody who has left', async () => {
    const store = await openStore();
    const [a, b] = [await start(store), await start(store)];
    const { told } = await listen(store);
    const left: unknown[] = [];
    store.journal!.onGrown((ids) => left.push(ids))();
    await store.journal!.append([requestOf(a, 1), requestOf(b, 1), requestOf(a, 2)]);
    await store.journal!.append([requestOf(a, 1)]);
    await add(store, {});
    expect(told).toEqual([[a.id, b.id]]);
    expect(left).toEqual([]);
  });
});

describe('what a journal costs', () => {
  // fault: the table of journals is gone, so that every statement that touches it fails
  it('jobs that say nothing never touch it', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    execute(path, 'drop table journal');
    const job = await start(store);
    await store.reports.add([{ ...job, by: 'anyone', report: { number: 1, fraction: 0.5 }, now: Date.now() }]);
    await store.extend([{ ...job, by: 'anyone', leaseMs: 1_000, now: Date.now() }]);
    expect(await complete(store, job)).toMatchObject([{ status: 'applied' }]);
    await store.due({ now: Date.now(), limit: 10 });
    await expect(store.journal!.append([requestOf(job, 1)])).rejects.toThrow();
  });

  it('a view of a large buffer travels without the rest of it', async () => {
    const store = await openStore();
    const whole = Buffer.alloc(1_000_000, 'x');
    const request = requestOf(await start(store), 1, whole.subarray(10, 20));
    expect(appendMessage(request).body.buffer.byteLength).toBe(10);
    const own = new Uint8Array(10);
    expect(appendMessage({ ...request, batch: { ...request.batch, body: own } }).body).toBe(own);
  });

  it('a long journal goes in slices, and its job with the last of them', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    const [short, long, plain] = [await start(store), await start(store), await start(store)];
    await say(store, short, 1, 2, 3);
    await say(store, long, ...Array.from({ length: 500 }, (_, n) => n));
    for (const job of [short, long, plain]) await complete(store, job);
    const prune = () => store.prune({ finishedBefore: Date.now() + 1, deadBefore: 0, eventsBefore: 0, limit: 1_000 });
    expect(await prune()).toEqual({ jobs: 1, events: 0, more: true });
    expect(batchesOf(path)).toBe(303);
    expect(await prune()).toMatchObject({ jobs: 0, more: true });
    expect(await store.get([long])).toMatchObject([{ id: long.id }]);
    expect(await prune()).toEqual({ jobs: 2, events: 0, more: false });
    expect(batchesOf(path)).toBe(0);
  });

  it('old batches go in slices too', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    const job = await start(store);
    await say(store, job, ...Array.from({ length: 450 }, (_, n) => n));
    const request = { finishedBefore: 0, deadBefore: 0, eventsBefore: 0, journalBefore: Date.now() + 1, limit: 1_000 };
    expect(await store.prune(request)).toEqual({ jobs: 0, events: 0, journal: 200, more: true });
    expect(await store.prune({ ...request, limit: 100 })).toMatchObject({ journal: 100, more: true });
    expect(await store.prune(request)).toEqual({ jobs: 0, events: 0, journal: 149, more: false });
    expect(await store.prune(request)).toEqual({ jobs: 0, events: 0, more: false });
    expect(batchesOf(path)).toBe(1);
  });

  it('a queue that keeps nothing keeps no journals', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    await store.queues.setKeep('', 'default', 'none');
    const job = await start(store);
    await say(store, job, 1, 2);
    await complete(store, job);
    expect(await store.get([job])).toEqual([null]);
    expect(batchesOf(path)).toBe(0);
  });
});

describe('entries that are too large for a row', () => {
  const FIVE_MB = 5_000_000;
  /** Such that it cannot be made smaller. */
  const noise = Buffer.alloc(FIVE_MB);
  for (let n = 0, seed = 1; n < FIVE_MB; n++) {
    seed = (seed * 48_271) % 2_147_483_647;
    noise[n] = seed & 255;
  }

  async function said(blobs?: ReturnType<typeof folderBlobStore>) {
    const store = await openStore();
    const waybill = engine({ store, logger: silentLogger, ...(blobs && { blobs: { store: blobs } }) });
    onTestFinished(() => waybill.close());
    const { job } = await waybill.jobs.enqueue({ type: 'test.job', args: [] });
    await waybill.jobs.claim({ queues: ['default'], count: 1, workerId: 'w' });
    const entries = [
      { sequence: 1, type: 'output', output: Buffer.from('before') },
      { sequence: 2, type: 'output', output: noise },
    ];
    return { waybill, store, id: job.id, answer: waybill.jobs.append({ id: job.id, entries }) };
  }

  it('are kept in the blob store, and come back', async () => {
    const { waybill, store, id, answer } = await said(folderBlobStore(tempFolder()));
    expect(await answer).toMatchObject({ run: 1, stored: 2, head: 2, cut: 0 });
    // A page ends before it gets large.
    const first = await waybill.jobs.journal(id);
    const second = await waybill.jobs.journal(id, { cursor: first.cursor });
    const entries = [...first.entries, ...second.entries];
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2]);
    expect(second.atEnd).toBe(true);
    expect(Buffer.from(entries[1]!.output!).equals(noise)).toBe(true);
    const { batches } = await store.journal!.read({ tenant: '', id, limit: 10, maxBytes: FIVE_MB });
    expect(batches.every(({ body }) => body.length < 1_000)).toBe(true);
  });

  it('are refused without one, and nothing of the call is stored', async () => {
    const { waybill, id, answer } = await said();
    await expect(answer).rejects.toMatchObject({ code: 'payload_too_large', details: { field: 'entries[1]' } });
    expect((await waybill.jobs.journal(id)).entries).toEqual([]);
  });
});
