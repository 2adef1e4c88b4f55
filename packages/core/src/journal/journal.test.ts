import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { Store } from '../store/store.ts';
import { memoryStore, TestClock, type TestEngine, testEngine } from '../testing/index.ts';
import { memoryBlobs } from '../testing/memory-blobs.ts';
import type { FollowedItem } from '../waybill.ts';
import type { JournalEntry, NewEntry } from './entry.ts';

const line = (sequence: number, text = `line ${sequence}\n`): NewEntry => ({
  ...{ sequence, type: 'output', stream: 'stdout', output: Buffer.from(text) },
});
const lines = (from: number, to: number): NewEntry[] =>
  Array.from({ length: to - from + 1 }, (_, index) => line(from + index));
const numbers = (entries: readonly JournalEntry[]): number[] => entries.map(({ sequence }) => sequence);

async function started(options: Parameters<typeof testEngine>[0] = {}) {
  const made = testEngine(options);
  const id = await made.enqueue({ retry: { max_attempts: 2 } });
  const lease = await made.claimOne({ workerId: 'w1' });
  return { ...made, id, held: { id, leaseToken: lease.token } };
}

const sequencesOf = async ({ waybill }: Pick<TestEngine, 'waybill'>, id: string): Promise<number[]> =>
  numbers((await waybill.jobs.journal(id)).entries);

describe('jobs.append', () => {
  it('keeps what a run says as it came, with the time of the server where it has none', async () => {
    const { waybill, clock, id, held } = await started();
    const entries: NewEntry[] = [
      { sequence: 0, type: 'process.started', at: 5, data: { pid: 7 } },
      { sequence: 3, type: 'output', stream: 'stderr', output: Uint8Array.of(0, 255, 128) },
      { sequence: 4, type: 'my.own', data: null },
      { sequence: 9, type: 'heartbeat' },
    ];
    expect(await waybill.jobs.append({ ...held, entries })).toEqual({ run: 1, stored: 4, head: 9, cut: 0 });
    const { entries: found, atEnd, missed } = await waybill.jobs.journal(id);
    expect([atEnd, missed]).toEqual([true, false]);
    expect(found).toEqual(entries.map((entry) => ({ at: clock.now(), ...entry, run: 1 })));
  });

  // fault: calls are made again, in part and as a whole
  it('guarantee 10: what is sent again is stored once, and what is new of it is stored', async () => {
    const { waybill, id, held } = await started();
    await waybill.jobs.append({ ...held, entries: lines(1, 5) });
    expect(await waybill.jobs.append({ ...held, entries: lines(1, 5) })).toMatchObject({ stored: 0, head: 5 });
    expect(await waybill.jobs.append({ ...held, entries: lines(3, 8) })).toMatchObject({ stored: 3, head: 8 });
    expect(await sequencesOf({ waybill }, id)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('refuses what comes too late instead of taking it for something that is stored', async () => {
    const { waybill, id, held } = await started();
    await waybill.jobs.append({ ...held, entries: [line(1), line(5)] });
    const late = waybill.jobs.append({ ...held, entries: [line(1), line(3), line(6)] });
    await expect(late).rejects.toMatchObject({ code: 'conflict', details: { sequence: 3, run: 1, head: 5 } });
    expect(await sequencesOf({ waybill }, id)).toEqual([1, 5]);
  });

  // fault: the lease runs out and another claim starts the next run
  it('guarantee 3: a stale token is refused and changes nothing', async () => {
    const { waybill, clock, id, held } = await started();
    await waybill.jobs.append({ ...held, entries: lines(1, 2) });
    await clock.advance(400_000);
    const [next] = await waybill.jobs.claim({ queues: ['default'] });
    await expect(waybill.jobs.append({ ...held, entries: lines(3, 4) })).rejects.toMatchObject({ code: 'lease_lost' });
    await waybill.jobs.append({ id, leaseToken: next!.token, entries: lines(1, 1) });
    const { entries } = await waybill.jobs.journal(id);
    expect(entries.map(({ run, sequence }) => [run, sequence])).toEqual([
      [1, 1],
      [1, 2],
      [2, 1],
    ]);
    await expect(waybill.jobs.append({ ...held, id: 'none', entries: lines(1, 1) })).rejects.toMatchObject({
      code: 'not_found',
    });
  });

  it('calls of one run that come at once are stored in the order of the calls', async () => {
    const { waybill, id, held } = await started();
    const calls = Array.from({ length: 20 }, (_, n) =>
      waybill.jobs.append({ ...held, entries: lines(n * 10 + 1, n * 10 + 10) }),
    );
    await Promise.all(calls);
    expect(await sequencesOf({ waybill }, id)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  });

  // A transaction for each run would store a twentieth of what this does.
  it('trap: what many runs say at the same moment shares calls to the store', async () => {
    const { waybill, store, enqueue, claimOne } = testEngine();
    const leases = [];
    for (let run = 0; run < 64; run += 1) {
      await enqueue();
      leases.push(await claimOne());
    }
    const calls = leases.map(({ job, token }) =>
      waybill.jobs.append({ id: job.id, leaseToken: token, entries: lines(1, 5) }),
    );
    expect((await Promise.all(calls)).map(({ stored }) => stored)).toEqual(calls.map(() => 5));
    expect(store.calls('journal.append')).toBeLessThan(8);
  });

  it('cuts at the size that was set, says so once, and still tells what the process came to', async () => {
    const { waybill, id, held } = await started({ journal: { maxBytes: 1_000 } });
    const big = (sequence: number) => line(sequence, 'x'.repeat(400));
    expect(await waybill.jobs.append({ ...held, entries: [big(1), big(2)] })).toMatchObject({ stored: 2, cut: 0 });
    const ended: NewEntry = { sequence: 4, type: 'process.ended', data: { exit_code: 0 } };
    expect(await waybill.jobs.append({ ...held, entries: [big(3), ended] })).toMatchObject({ stored: 1, cut: 1 });
    expect(await waybill.jobs.append({ ...held, entries: [big(5), big(6)] })).toMatchObject({ stored: 0, cut: 2 });
    const failed: NewEntry = { sequence: 7, type: 'process.failed' };
    expect(await waybill.jobs.append({ ...held, entries: [failed] })).toMatchObject({ stored: 1, cut: 0 });
    const { entries } = await waybill.jobs.journal(id);
    expect(entries.map(({ sequence, type }) => `${sequence} ${type}`)).toEqual([
      ...['1 output', '2 output', '3 journal.cut', '4 process.ended', '7 process.failed'],
    ]);
  });

  it('a large call becomes several batches; an entry that no store can keep is refused whole', async () => {
    const { waybill, store, id, held } = await started();
    const entries = Array.from({ length: 8 }, (_, n) => line(n + 1, 'y'.repeat(100_000)));
    await waybill.jobs.append({ ...held, entries });
    expect(store.calls('journal.append')).toBeGreaterThan(3);
    expect(await sequencesOf({ waybill }, id)).toHaveLength(8);
    const huge = [line(9), line(10, 'z'.repeat(9_000_000))];
    await expect(waybill.jobs.append({ ...held, entries: huge })).rejects.toMatchObject({ code: 'payload_too_large' });
    expect(await sequencesOf({ waybill }, id)).toHaveLength(8);
  });

  it('trap: close waits for all batches of a call, not only for the one that is being stored', async () => {
    const clock = new TestClock();
    const inner = memoryStore({ clock });
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const append: NonNullable<Store['journal']>['append'] = async (requests) => {
      const answers = await inner.journal!.append(requests);
      order.push('stored');
      first.resolve();
      return answers;
    };
    const on: Store = {
      ...inner,
      journal: { ...inner.journal!, append },
      close: () => {
        order.push('closed');
        return inner.close();
      },
    };
    const { waybill, held } = await started({ clock, on });
    const appended = waybill.jobs.append({ ...held, entries: lines(1, 3_500) });
    await first.promise;
    await waybill.close();
    expect(order).toEqual(['stored', 'stored', 'stored', 'stored', 'closed']);
    expect(await appended).toMatchObject({ stored: 3_500 });
  });

  it('keeps large entries in the blob store where there is one', async () => {
    const { store: blobs, setAway } = memoryBlobs();
    const { waybill, id, held } = await started({ blobs: { store: blobs } });
    const output = randomBytes(9_000_000);
    await waybill.jobs.append({ ...held, entries: [{ sequence: 1, type: 'output', output }, line(2)] });
    const { entries, cursor, atEnd } = await waybill.jobs.journal(id);
    expect(Buffer.from(entries[0]!.output!).equals(output)).toBe(true);
    // A page is bounded by its bytes, too.
    expect([numbers(entries), atEnd]).toEqual([[1], false]);
    expect(numbers((await waybill.jobs.journal(id, { cursor })).entries)).toEqual([2]);
    setAway(true);
    await expect(waybill.jobs.journal(id)).rejects.toThrow('connection refused');
    setAway(false);
    expect(numbers((await waybill.jobs.journal(id, { limit: 1 })).entries)).toEqual([1]);
  });

  it.each([
    ['no list', 'x', 'entries'],
    ['nothing', [], 'entries'],
    ['a sequence below 0', [{ ...line(1), sequence: -1 }], 'entries[0].sequence'],
    ['a sequence beyond numbers', [{ ...line(1), sequence: 2 ** 53 }], 'entries[0].sequence'],
    ['sequences that do not grow', [line(2), line(2)], 'entries[1].sequence'],
    ['a type with blanks', [{ sequence: 1, type: 'a b' }], 'entries[0].type'],
    ['output that is text', [{ ...line(1), output: 'text' }], 'entries[0].output'],
    ['output of another type', [{ ...line(1), type: 'metric' }], 'entries[0].output'],
    ['a stream that is none', [{ ...line(1), stream: 'stdlog' }], 'entries[0].stream'],
    ['a time that is none', [{ ...line(1), at: Number.NaN }], 'entries[0].at'],
    ['a time that RFC 3339 cannot write', [{ ...line(1), at: 253_402_300_800_000 }], 'entries[0].at'],
  ])('refuses %s, and stores nothing', async (_, entries, field) => {
    const { waybill, id, held } = await started();
    const refused = waybill.jobs.append({ ...held, entries: entries as NewEntry[] });
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: { field } });
    expect(await sequencesOf({ waybill }, id)).toEqual([]);
  });

  it('refuses a misspelt field with a suggestion', async () => {
    const { waybill, held } = await started();
    const entries = [{ sequence: 1, type: 'a', dta: 1 }] as unknown as NewEntry[];
    await expect(waybill.jobs.append({ ...held, entries })).rejects.toThrow(/dta.*data/);
  });
});

describe('jobs.journal', () => {
  it('answers pages that go on where the last one ended, and takes every filter', async () => {
    const { waybill, clock, id, held } = await started();
    await waybill.jobs.append({ ...held, entries: lines(1, 30) });
    await clock.advance(1_000);
    const metric: NewEntry = { sequence: 31, type: 'metric', data: { tokens: 5 } };
    await waybill.jobs.append({ ...held, entries: [metric, ...lines(32, 40)] });
    const found: number[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await waybill.jobs.journal(id, { limit: 7, ...(cursor !== undefined && { cursor }) });
      expect(page.entries.length).toBeLessThanOrEqual(7);
      found.push(...numbers(page.entries));
      ({ cursor } = page);
      if (page.atEnd) break;
    }
    expect(found).toEqual(Array.from({ length: 40 }, (_, n) => n + 1));
    const by = async (query: object) => numbers((await waybill.jobs.journal(id, query)).entries);
    expect(await by({ fromSequence: 38 })).toEqual([38, 39, 40]);
    expect(await by({ run: 1, fromSequence: 39 })).toEqual([39, 40]);
    expect(await by({ run: 2 })).toEqual([]);
    expect(await by({ types: ['metric'] })).toEqual([31]);
    expect(await by({ types: [] })).toHaveLength(40);
    expect(await by({ fromTime: clock.now(), types: ['output'] })).toEqual([32, 33, 34, 35, 36, 37, 38, 39, 40]);
    await expect(waybill.jobs.journal(id, { cursor: 'x' })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(waybill.jobs.journal(id, { run: 0 })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(waybill.jobs.journal('none')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('says that entries were pruned before they could be read', async () => {
    const { waybill, store, clock, id, held } = await started();
    await waybill.jobs.append({ ...held, entries: lines(1, 2) });
    await clock.advance(1_000);
    await waybill.jobs.append({ ...held, entries: lines(3, 4) });
    const before = { finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100 };
    await store.prune({ ...before, journalBefore: clock.now() });
    expect(await waybill.jobs.journal(id)).toMatchObject({ missed: true, entries: [{ sequence: 3 }, { sequence: 4 }] });
    expect(await waybill.jobs.journal(id, { cursor: '1.2' })).toMatchObject({ missed: false });
    // What is sent again is still known.
    expect(await waybill.jobs.append({ ...held, entries: lines(1, 5) })).toMatchObject({ stored: 1, head: 5 });
  });
});

const textOf = (said: FollowedItem): string =>
  said.kind === 'entry' ? `${said.entry.run}.${said.entry.sequence}` : said.event.type;

describe('jobs.follow', () => {
  it('shows what there is, then what comes, and ends with the job', async () => {
    const { waybill, id, held } = await started();
    await waybill.jobs.append({ ...held, entries: lines(1, 3) });
    const { signal } = new AbortController();
    const live = Promise.withResolvers<void>();
    const seen: string[] = [];
    const followed = (async () => {
      for await (const said of waybill.jobs.follow(id, { signal, onLive: () => live.resolve() }))
        seen.push(textOf(said));
    })();
    await live.promise;
    expect(seen).toEqual(['1.1', '1.2', '1.3']);
    await waybill.jobs.append({ ...held, entries: lines(4, 5) });
    await waybill.jobs.append({ ...held, entries: lines(6, 6) });
    await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
    await followed;
    expect(seen).toEqual(['1.1', '1.2', '1.3', '1.4', '1.5', '1.6']);
    const again: string[] = [];
    for await (const said of waybill.jobs.follow(id, { signal, fromSequence: 5 })) again.push(textOf(said));
    expect(again).toEqual(['1.5', '1.6']);
  });

  it('tells the life of the job beside, in the order of time, its end last', async () => {
    const { waybill, clock, id, held } = await started();
    await clock.advance(10);
    await waybill.jobs.append({ ...held, entries: lines(1, 2) });
    await clock.advance(10);
    await waybill.jobs.report({ ...held, fraction: 0.5 });
    const { signal } = new AbortController();
    const seen: FollowedItem[] = [];
    const live = Promise.withResolvers<void>();
    const query = { signal, lifecycle: true, onLive: () => live.resolve() };
    const followed = (async () => {
      for await (const said of waybill.jobs.follow(id, query)) seen.push(said);
    })();
    await live.promise;
    await waybill.jobs.append({ ...held, entries: lines(3, 3) });
    await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
    await followed;
    const told = seen.map(textOf).filter((text) => text !== 'job.heartbeat');
    expect(told).toEqual(['job.enqueued', 'job.started', '1.1', '1.2', 'job.progress', '1.3', 'job.completed']);
    // From any item on, the rest and nothing twice.
    for (const [index, { cursor }] of seen.entries()) {
      const rest: string[] = [];
      for await (const said of waybill.jobs.follow(id, { signal, lifecycle: true, cursor })) rest.push(textOf(said));
      expect([index, rest]).toEqual([index, seen.slice(index + 1).map(textOf)]);
    }
  });

  it('tells what happens to the job while the reader is busy with an entry', async () => {
    const { waybill, id, held } = await started();
    await waybill.jobs.append({ ...held, entries: lines(1, 1) });
    const { signal } = new AbortController();
    const live = Promise.withResolvers<void>();
    const items = waybill.jobs.follow(id, { signal, lifecycle: true, onLive: () => live.resolve() });
    const reading = items[Symbol.asyncIterator]();
    const next = async () => textOf((await reading.next()).value!);
    expect([await next(), await next(), await next()]).toEqual(['job.enqueued', 'job.started', '1.1']);
    const waiting = next();
    await live.promise;
    await waybill.jobs.append({ ...held, entries: lines(2, 2) });
    expect(await waiting).toBe('1.2');
    const after = await waybill.events.end();
    await waybill.jobs.report({ ...held, fraction: 0.5 });
    for await (const { type } of waybill.events.follow({ after, signal })) if (type === 'job.progress') break;
    for (let told = ''; told !== 'job.progress'; ) told = await next();
    await reading.return?.();
  });

  it('goes on with the next run, and stays after the end where it is asked to', async () => {
    const { waybill, clock, id, held } = await started();
    const stop = new AbortController();
    const seen: string[] = [];
    let arrived = Promise.withResolvers<void>();
    const followed = (async () => {
      for await (const said of waybill.jobs.follow(id, { signal: stop.signal, stay: true })) {
        seen.push(textOf(said));
        arrived.resolve();
      }
    })();
    const said = async (call: typeof held) => {
      arrived = Promise.withResolvers();
      await waybill.jobs.append({ ...call, entries: lines(1, 1) });
      await arrived.promise;
    };
    await said(held);
    await waybill.jobs.settle({ ...held, outcome: { kind: 'failed', error: { code: 'x', message: 'no' } } });
    await clock.advance(60_000);
    const [second] = await waybill.jobs.claim({ queues: ['default'] });
    await said({ id, leaseToken: second!.token });
    await waybill.jobs.settle({ id, leaseToken: second!.token, outcome: { kind: 'completed', result: null } });
    await waybill.jobs.retry(id);
    const [third] = await waybill.jobs.claim({ queues: ['default'] });
    await said({ id, leaseToken: third!.token });
    stop.abort();
    await followed;
    expect(seen).toEqual(['1.1', '2.1', '3.1']);
  });

  it('two hundred who follow one job cost the store one reader', async () => {
    const { waybill, store, id, held } = await started();
    const { signal } = new AbortController();
    const lives: Promise<void>[] = [];
    const followers = Array.from({ length: 200 }, async () => {
      const live = Promise.withResolvers<void>();
      lives.push(live.promise);
      const seen: string[] = [];
      for await (const said of waybill.jobs.follow(id, { signal, onLive: () => live.resolve() }))
        seen.push(textOf(said));
      return seen;
    });
    await Promise.all(lives);
    const before = store.calls('journal.read');
    for (let n = 1; n <= 20; n++) await waybill.jobs.append({ ...held, entries: [line(n)] });
    expect(store.calls('journal.read') - before).toBeLessThan(60);
    await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
    for (const seen of await Promise.all(followers)) expect(seen).toHaveLength(20);
  });

  it('a reader that stops reading slows nobody, and finds everything when it goes on', async () => {
    const { waybill, id, held } = await started();
    const { signal } = new AbortController();
    const slow = waybill.jobs.follow(id, { signal })[Symbol.asyncIterator]();
    await waybill.jobs.append({ ...held, entries: lines(1, 1) });
    expect(textOf((await slow.next()).value!)).toBe('1.1');
    const waiting = slow.next();
    for (let n = 2; n <= 40; n++) await waybill.jobs.append({ ...held, entries: [line(n, 'x'.repeat(50_000))] });
    await waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });
    const seen = [textOf((await waiting).value!)];
    for (let next = await slow.next(); !next.done; next = await slow.next()) seen.push(textOf(next.value));
    expect(seen).toEqual(Array.from({ length: 39 }, (_, n) => `1.${n + 2}`));
  });

  it('refuses an unknown job, and ends with the signal and with the engine', async () => {
    const { waybill, id } = await started();
    const { signal } = new AbortController();
    const unknown = waybill.jobs.follow('none', { signal })[Symbol.asyncIterator]().next();
    await expect(unknown).rejects.toMatchObject({ code: 'not_found' });
    const stop = new AbortController();
    const next = waybill.jobs.follow(id, { signal: stop.signal })[Symbol.asyncIterator]().next();
    stop.abort();
    expect((await next).done).toBe(true);
    const other = waybill.jobs.follow(id, { signal })[Symbol.asyncIterator]().next();
    await waybill.close();
    expect((await other).done).toBe(true);
  });
});
