import { describe, expect, it, test } from 'vitest';
import type { Job } from '../../job/job.ts';
import {
  type AppendAnswer,
  type AppendRequest,
  BEFORE_ALL,
  type JournalBatch,
  type JournalQuery,
  type JournalStore,
} from '../../store/journal.ts';
import { type Bench, COMPLETED, FAILED, type OpenBench } from './bench.ts';

const journalOf = ({ store }: Bench): JournalStore => {
  if (!store.journal) throw new Error('The store has no journal.');
  return store.journal;
};

/** A batch of the sequences from `first` to `last`, whose body tells which they are. */
const batchOf = (first: number, last: number, at: number): AppendRequest['batch'] => ({
  ...{ first, last, firstAt: at, lastAt: at, types: ['output'] },
  body: Buffer.from(`${first}..${last}`),
});

type Over = Partial<Omit<AppendRequest, 'batch'>> & { batch?: Partial<AppendRequest['batch']> };

function requestOf(bench: Bench, job: Job, [first, last]: [number, number], over: Over = {}): AppendRequest {
  const { tenant, id, run, claimId } = job;
  const by = { run, claimId: claimId! };
  const batch = { ...batchOf(first, last, bench.now), ...over.batch };
  return { tenant, id, by, weight: 10, now: bench.now, ...over, batch };
}

async function append(bench: Bench, job: Job, range: [number, number], over: Over = {}): Promise<AppendAnswer> {
  const [answer] = await journalOf(bench).append([requestOf(bench, job, range, over)]);
  return answer!;
}

async function readAll(bench: Bench, { tenant, id }: Job, query: Partial<JournalQuery> = {}): Promise<JournalBatch[]> {
  const found: JournalBatch[] = [];
  for (let { after } = query; ; ) {
    const asked = { tenant, id, limit: 100, maxBytes: 1_000_000, ...query, ...(after && { after }) };
    const { batches, more } = await journalOf(bench).read(asked);
    expect(batches.length).toBeLessThanOrEqual(asked.limit);
    found.push(...batches);
    if (!more) return found;
    const last = batches.at(-1);
    // A page that moves nothing would be asked for again for ever.
    expect(last).toBeDefined();
    after = { run: last!.run, sequence: last!.last };
  }
}

const textOf = ({ body }: JournalBatch): string => Buffer.from(body).toString();
const textsOf = async (bench: Bench, job: Job, query: Partial<JournalQuery> = {}): Promise<string[]> =>
  (await readAll(bench, job, query)).map(textOf);

const STORED = expect.objectContaining({ status: 'stored' });

async function secondRun(bench: Bench, first: Job): Promise<Job> {
  await bench.settle(first, FAILED);
  await bench.clock.advance(86_400_000);
  await bench.sweep();
  const [second] = await bench.claim({ tenant: first.tenant, queues: [first.queue] });
  expect(second).toMatchObject({ id: first.id, run: first.run + 1 });
  return second!;
}

export function testJournal(open: OpenBench): void {
  describe('the journal', () => {
    // fault: a client numbers its entries as it likes
    it('keeps sequences that are far ahead exactly, and nothing follows the last one', async () => {
      const bench = await open();
      const job = await bench.start({ tenant: 't' });
      const last = Number.MAX_SAFE_INTEGER;
      for (const range of [
        [0, 0],
        [2 ** 40, 2 ** 40 + 1],
        [last - 1, last],
      ] as [number, number][])
        expect(await append(bench, job, range)).toEqual(STORED);
      expect((await readAll(bench, job)).map((batch) => [batch.after, batch.first, batch.last])).toEqual([
        [BEFORE_ALL, 0, 0],
        [0, 2 ** 40, 2 ** 40 + 1],
        [2 ** 40 + 1, last - 1, last],
      ]);
      expect(await append(bench, job, [last, last])).toMatchObject({ status: 'behind', head: last });
      expect(await readAll(bench, job, { after: { run: job.run, sequence: last } })).toEqual([]);
    });

    it('keeps batches as they came, any bytes, in order', async () => {
      const bench = await open();
      const job = await bench.start({ tenant: 't' });
      const body = Uint8Array.from({ length: 300 }, (_, n) => n % 256);
      const types = ['output', 'my.own-type', 'ä,b"\\'];
      const times = { firstAt: bench.now - 5, lastAt: bench.now + 7 };
      expect(await append(bench, job, [1, 3], { batch: { body, types, ...times } })).toEqual({
        ...{ status: 'stored', run: 1, weight: 10 },
      });
      await bench.clock.advance(1000);
      expect(await append(bench, job, [4, 4], { weight: 5 })).toEqual({ status: 'stored', run: 1, weight: 15 });
      const [one, two] = await readAll(bench, job);
      expect({ ...one, body: [...one!.body] }).toEqual({
        ...{ run: 1, after: BEFORE_ALL, first: 1, last: 3, storedAt: bench.now - 1000, types, ...times },
        body: [...body],
      });
      expect(two).toMatchObject({ run: 1, after: 3, first: 4, last: 4, storedAt: bench.now });
      expect(await bench.read(job)).toEqual(job);
      expect(await textsOf(bench, { ...job, tenant: 'other' })).toEqual([]);
    });

    it('begins where the client does, and lets it skip', async () => {
      const bench = await open();
      const [zero, far] = [await bench.start(), await bench.start()];
      expect(await append(bench, zero, [0, 0])).toEqual(STORED);
      expect(await append(bench, far, [5, 9])).toEqual(STORED);
      const most = Number.MAX_SAFE_INTEGER;
      expect(await append(bench, far, [1_000, most])).toEqual(STORED);
      expect(await readAll(bench, zero)).toMatchObject([{ after: BEFORE_ALL, first: 0, last: 0 }]);
      expect(await readAll(bench, far)).toMatchObject([
        { after: BEFORE_ALL, first: 5, last: 9 },
        { after: 9, first: 1_000, last: most },
      ]);
    });

    // fault: the same call is made again
    it('guarantee 10: what is sent again is stored once', async () => {
      const bench = await open();
      const job = await bench.start();
      await append(bench, job, [1, 5]);
      expect(await append(bench, job, [1, 5])).toEqual({ status: 'behind', run: 1, head: 5 });
      expect(await append(bench, job, [4, 9])).toEqual({ status: 'behind', run: 1, head: 5 });
      expect(await append(bench, job, [0, 0])).toEqual({ status: 'behind', run: 1, head: 5 });
      expect(await append(bench, job, [6, 9])).toEqual({ status: 'stored', run: 1, weight: 20 });
      expect(await textsOf(bench, job)).toEqual(['1..5', '6..9']);
    });

    // fault: a forged token: another claim id, another run or another worker
    it('guarantee 3: only the run that holds the lease is heard', async () => {
      const bench = await open();
      const job = await bench.start();
      const heard = async (by: AppendRequest['by'], first: number) =>
        (await append(bench, job, [first, first], { by })).status;
      expect(await heard({ run: 1, claimId: 'forged' }, 1)).toBe('lost');
      expect(await heard({ run: 2, claimId: job.claimId! }, 1)).toBe('lost');
      expect(await heard({ workerId: 'worker-2' }, 1)).toBe('lost');
      expect(await readAll(bench, job)).toEqual([]);
      expect(await heard({ workerId: 'worker-1' }, 1)).toBe('stored');
      expect(await heard('anyone', 2)).toBe('stored');
      await bench.settle(job, COMPLETED);
      expect(await heard({ run: 1, claimId: job.claimId! }, 3)).toBe('lost');
      expect(await heard('anyone', 3)).toBe('lost');
      expect(await append(bench, bench.make().job, [1, 1], { by: 'anyone' })).toEqual({ status: 'lost' });
      expect(await textsOf(bench, job)).toEqual(['1..1', '2..2']);
    });

    it('a second run neither mixes with the first nor hides it', async () => {
      const bench = await open();
      const first = await bench.start();
      await append(bench, first, [1, 5]);
      await append(bench, first, [6, 9]);
      const second = await secondRun(bench, first);
      expect(await append(bench, first, [10, 11])).toEqual({ status: 'lost' });
      expect(await append(bench, second, [1, 2], { by: 'anyone' })).toEqual({ status: 'stored', run: 2, weight: 30 });
      expect(await append(bench, second, [3, 20])).toEqual({ status: 'stored', run: 2, weight: 40 });
      const all = (await readAll(bench, first)).map(({ run, after, last }) => [run, after, last]);
      expect(all).toEqual([
        [1, BEFORE_ALL, 5],
        [1, 5, 9],
        [2, BEFORE_ALL, 2],
        [2, 2, 20],
      ]);
      expect(await textsOf(bench, first, { run: 1 })).toEqual(['1..5', '6..9']);
      expect(await textsOf(bench, first, { run: 2 })).toEqual(['1..2', '3..20']);
      expect(await textsOf(bench, first, { run: 3 })).toEqual([]);
    });

    it('says when it is full, and goes by the weight of all runs', async () => {
      const bench = await open();
      const job = await bench.start();
      expect(await append(bench, job, [1, 1], { weight: 90, atMost: 100 })).toEqual(STORED);
      const full = { status: 'full', run: 1, head: 1, weight: 90 };
      expect(await append(bench, job, [2, 2], { weight: 11, atMost: 100 })).toEqual(full);
      // What was stored before is told as such, however full it is.
      expect(await append(bench, job, [1, 1], { weight: 11, atMost: 100 })).toMatchObject({ status: 'behind' });
      expect(await append(bench, job, [2, 2], { weight: 10, atMost: 100 })).toEqual(STORED);
      expect(await append(bench, job, [3, 3], { weight: 2 ** 50 })).toEqual(STORED);
      const second = await secondRun(bench, job);
      const weight = 2 ** 50 + 100;
      expect(await append(bench, second, [1, 1], { weight: 1, atMost: 1_000 })).toEqual({
        ...{ status: 'full', run: 2, head: BEFORE_ALL, weight },
      });
      expect(await textsOf(bench, job)).toEqual(['1..1', '2..2', '3..3']);
    });

    it('answers several appends of one call, of one run in the order given', async () => {
      const bench = await open();
      const [a, b] = [await bench.start(), await bench.start({ tenant: 't' })];
      const requests = [
        requestOf(bench, a, [1, 2]),
        requestOf(bench, b, [1, 1], { by: { run: 1, claimId: 'forged' } }),
        requestOf(bench, a, [3, 4]),
        requestOf(bench, b, [1, 9]),
        requestOf(bench, a, [4, 5]),
      ];
      const answers = await journalOf(bench).append(requests);
      expect(answers.map(({ status }) => status)).toEqual(['stored', 'lost', 'stored', 'stored', 'behind']);
      expect(await textsOf(bench, a)).toEqual(['1..2', '3..4']);
      expect(await textsOf(bench, b)).toEqual(['1..9']);
      expect(await journalOf(bench).append([])).toEqual([]);
    });

    // fault: ten callers of one run append at the same moment
    it('of ten at once into one place, one is stored', async () => {
      const bench = await open();
      const job = await bench.start();
      for (let round = 0; round < 3; round++) {
        const from = round * 10 + 1;
        const racers = Array.from({ length: 10 }, (_, n) => append(bench, job, [from, from + n]));
        const answers = await Promise.all(racers);
        expect(answers.filter(({ status }) => status === 'stored')).toHaveLength(1);
        expect(answers.filter(({ status }) => status === 'behind')).toHaveLength(9);
        await append(bench, job, [from + 9, from + 9]);
      }
      const batches = await readAll(bench, job);
      expect(batches.map(({ after }) => after)).toEqual([BEFORE_ALL, ...batches.slice(0, -1).map(({ last }) => last)]);
    });

    test.each([1, 2, 3, 100])('is read from any place, %i batches to a page', async (limit) => {
      const bench = await open();
      const first = await bench.start();
      for (const range of [
        [1, 3],
        [4, 6],
        [10, 12],
      ] as [number, number][])
        await append(bench, first, range);
      const second = await secondRun(bench, first);
      await append(bench, second, [1, 1]);
      await append(bench, second, [2, 5]);
      const from = (run: number, sequence: number, more: Partial<JournalQuery> = {}) =>
        textsOf(bench, first, { limit, after: { run, sequence }, ...more });
      expect(await textsOf(bench, first, { limit })).toEqual(['1..3', '4..6', '10..12', '1..1', '2..5']);
      expect(await from(1, BEFORE_ALL)).toEqual(['1..3', '4..6', '10..12', '1..1', '2..5']);
      expect(await from(1, 2)).toEqual(['1..3', '4..6', '10..12', '1..1', '2..5']);
      expect(await from(1, 3)).toEqual(['4..6', '10..12', '1..1', '2..5']);
      expect(await from(1, 8, { run: 1 })).toEqual(['10..12']);
      expect(await from(1, 12)).toEqual(['1..1', '2..5']);
      expect(await from(1, 99, { run: 1 })).toEqual([]);
      expect(await from(2, 4)).toEqual(['2..5']);
      expect(await from(2, 5)).toEqual([]);
      expect(await from(0, 0)).toHaveLength(5);
    });

    it('is read in pages of so many bytes, of at least one batch', async () => {
      const bench = await open();
      const job = await bench.start();
      for (let n = 1; n <= 4; n++) await append(bench, job, [n, n], { batch: { body: Buffer.alloc(100, n) } });
      const { tenant, id } = job;
      const page = (maxBytes: number) => journalOf(bench).read({ tenant, id, limit: 100, maxBytes });
      expect(await page(1)).toMatchObject({ batches: [{ first: 1 }], more: true });
      expect((await page(250)).batches).toHaveLength(2);
      expect(await page(400)).toMatchObject({ batches: { length: 4 }, more: false });
      expect(await readAll(bench, job, { maxBytes: 150 })).toHaveLength(4);
    });

    test.each([1, 100])('is read by time and by type, %i batches to a page', async (limit) => {
      const bench = await open();
      const job = await bench.start();
      const at = bench.now;
      await append(bench, job, [1, 1], { batch: { firstAt: at, lastAt: at, types: ['output'] } });
      await append(bench, job, [2, 2], { batch: { firstAt: at - 50, lastAt: at + 100, types: ['out', 'metric'] } });
      await append(bench, job, [3, 3], { batch: { firstAt: at, lastAt: at + 50, types: ['x,output,y', '%'] } });
      const by = (query: Partial<JournalQuery>) => textsOf(bench, job, { limit, ...query });
      expect(await by({ fromAt: at })).toEqual(['1..1', '2..2', '3..3']);
      expect(await by({ fromAt: at + 50 })).toEqual(['2..2', '3..3']);
      expect(await by({ fromAt: at + 101 })).toEqual([]);
      expect(await by({ types: ['output'] })).toEqual(['1..1']);
      expect(await by({ types: ['metric', 'output'] })).toEqual(['1..1', '2..2']);
      expect(await by({ types: ['%'] })).toEqual(['3..3']);
      expect(await by({ types: ['put'] })).toEqual([]);
      expect(await by({ types: ['metric'], fromAt: at + 100, after: { run: 1, sequence: 1 } })).toEqual(['2..2']);
    });

    it('keeps bodies of the size that the store says it can', async () => {
      const bench = await open();
      const job = await bench.start();
      const size = Math.min(bench.store.capabilities.maxJournalBytes!, 2_000_000);
      const body = Buffer.alloc(size, 'z').fill(255, 10, 20);
      expect(await append(bench, job, [1, 1], { batch: { body } })).toEqual(STORED);
      const [found] = await readAll(bench, job);
      expect(Buffer.from(found!.body).equals(body)).toBe(true);
    });

    it('tells who listens that it has grown', async () => {
      const bench = await open();
      const [a, b] = [await bench.start(), await bench.start()];
      const told: string[] = [];
      let listener = Promise.withResolvers<void>();
      const stop = journalOf(bench).onGrown((ids) => {
        told.push(...(ids ?? [a.id, b.id]));
        listener.resolve();
      });
      await append(bench, a, [1, 1]);
      await listener.promise;
      expect(told).toContain(a.id);
      listener = Promise.withResolvers();
      await append(bench, b, [1, 1]);
      await listener.promise;
      expect(told).toContain(b.id);
      stop();
      const before = told.length;
      await append(bench, a, [2, 2]);
      expect(told).toHaveLength(before);
    });

    it('goes with its job', async () => {
      const bench = await open();
      const [job, other] = [await bench.start(), await bench.start()];
      await append(bench, job, [1, 1]);
      await append(bench, other, [1, 1]);
      await bench.settle(job, COMPLETED);
      await bench.outlive();
      const before = { finishedBefore: bench.now, deadBefore: 0, eventsBefore: 0 };
      await bench.store.prune({ ...before, limit: 1000 });
      if (await bench.find(job)) return;
      expect(await readAll(bench, job)).toEqual([]);
      expect(await textsOf(bench, other)).toEqual(['1..1']);
    });

    // fault: the clock of a server is a year ahead for a moment
    it('is pruned also where one before it has a time that has not come', async ({ skip }) => {
      const bench = await open();
      if (bench.store.capabilities.prunesItself) skip('the store removes what is old in its own time');
      const [wrong, right] = [await bench.start(), await bench.start()];
      await append(bench, wrong, [1, 2], { now: bench.now + 365 * 86_400_000 });
      await append(bench, right, [1, 2]);
      for (const job of [wrong, right]) await bench.settle(job, COMPLETED);
      await bench.clock.advance(bench.store.capabilities.pruneLagMs + 1_000);
      const request = { finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100 };
      expect(await bench.store.prune({ ...request, journalBefore: bench.now })).toMatchObject({ journal: 1 });
      expect(await textsOf(bench, wrong)).toEqual(['1..2']);
      expect(await textsOf(bench, right)).toEqual([]);
    });

    it('is pruned by its own age, but for how far an active run has come', async () => {
      const bench = await open();
      const [active, ended] = [await bench.start(), await bench.start()];
      for (const n of [1, 2, 3]) {
        await append(bench, active, [n, n]);
        await append(bench, ended, [n, n]);
      }
      await bench.settle(ended, COMPLETED);
      await bench.outlive();
      await append(bench, active, [4, 4], { now: bench.now });
      const prune = { finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 1000 };
      await bench.store.prune(prune);
      expect([await textsOf(bench, active), await textsOf(bench, ended)]).toMatchObject([{ length: 4 }, { length: 3 }]);
      if (bench.store.capabilities.prunesItself) return;
      for (let more = true; more; )
        ({ more } = await bench.store.prune({ ...prune, journalBefore: bench.now, limit: 2 }));
      expect([await textsOf(bench, active), await textsOf(bench, ended)]).toEqual([['4..4'], []]);
      await bench.outlive();
      await bench.store.prune({ ...prune, journalBefore: bench.now });
      expect(await textsOf(bench, active)).toEqual(['4..4']);
      expect(await append(bench, active, [4, 4])).toEqual({ status: 'behind', run: 1, head: 4 });
      expect(await append(bench, active, [5, 5])).toMatchObject({ status: 'stored', weight: 50 });
    });
  });
}
