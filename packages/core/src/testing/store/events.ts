import { describe, expect, it } from 'vitest';
import type { LogEvent, LoggedEvent } from '../../events/job-event.ts';
import { type Bench, COMPLETED, DISCARDED, FAILED, type OpenBench, plainEvent } from './bench.ts';

/** Cursors are a store's own: PostgreSQL writes into them what else happens in its cluster at that moment. */
const plainLog = async (bench: Bench, ...query: Parameters<Bench['log']>) =>
  (await bench.log(...query)).map(plainEvent);

const typesOf = (events: readonly LoggedEvent[]): string[] => events.map((event) => event.type);

/** Three jobs with a history each, in two queues and of two tenants; twelve events. */
async function makeHistory(bench: Bench) {
  const a = await bench.start({ queue: 'a' });
  const b = await bench.start({ queue: 'b' });
  const c = await bench.start({ queue: 'a', tenant: 'acme' });
  await bench.settle(a, FAILED);
  await bench.settle(b, COMPLETED);
  await bench.settle(c, DISCARDED);
  await bench.command(a, { do: 'cancel' });
  return { a, b, c };
}

export function testEvents(open: OpenBench): void {
  describe('events', () => {
    it('are in the log as soon as the call has answered, whole and in commit order', async () => {
      const bench = await open();
      const made = bench.make();
      await bench.insert(made);
      expect((await bench.log()).map(plainEvent)).toEqual(made.events);
      const [claimed] = await bench.claim();
      expect(typesOf(await bench.log())).toEqual(['job.enqueued', 'job.started']);
      const other = await bench.add();
      await bench.settle(claimed!, FAILED);
      const log = await bench.log();
      expect(typesOf(log)).toEqual(['job.enqueued', 'job.started', 'job.enqueued', 'job.failed', 'job.retrying']);
      expect(log.map((event) => event.jobId === other.id)).toEqual([false, false, true, false, false]);
    });

    // fault: none, the rule itself
    it('guarantee 4: a job’s events are ordered and gap-free, and its version is their number', async () => {
      const bench = await open();
      for (const job of Object.values(await makeHistory(bench))) {
        const events = await bench.eventsOf(job);
        expect(events.map((event) => event.sequence)).toEqual(events.map((_, index) => index + 1));
        expect((await bench.read(job)).version).toBe(events.length);
      }
    });

    it.each([1, 2, 3, 5, 12, 100])('pages of %i give every event once', async (limit) => {
      const bench = await open();
      await makeHistory(bench);
      const whole = await plainLog(bench, {}, { limit: 1000 });
      expect(whole).toHaveLength(12);
      expect(await plainLog(bench, {}, { limit })).toEqual(whole);
    });

    it('the cursor of an event continues right behind it', async () => {
      const bench = await open();
      await makeHistory(bench);
      const whole = await bench.log();
      for (const [index, { cursor }] of whole.entries()) {
        const behind = whole.slice(index + 1).map(plainEvent);
        expect(await plainLog(bench, {}, { after: cursor })).toEqual(behind);
      }
    });

    it('filters by tenant, type, queue and job, page by page', async () => {
      const bench = await open();
      const { a, b, c } = await makeHistory(bench);
      const whole = await plainLog(bench);
      const is = (test: (event: LogEvent) => boolean) => whole.filter(test);
      for (const limit of [1, 2, 100]) {
        expect(await plainLog(bench, { tenant: 'acme' }, { limit })).toEqual(is((e) => e.tenant === 'acme'));
        expect(await plainLog(bench, { types: ['job.started'] }, { limit })).toEqual(
          is((e) => e.type === 'job.started'),
        );
        expect(await plainLog(bench, { queues: ['a'] }, { limit })).toEqual(is((e) => e.queue === 'a'));
        expect(await plainLog(bench, { jobIds: [b.id, c.id] }, { limit })).toEqual(is((e) => e.jobId !== a.id));
        const both = is((e) => e.tenant === '' && e.queue === 'a' && e.type === 'job.failed');
        expect(both).toHaveLength(1);
        expect(await plainLog(bench, { tenant: '', queues: ['a'], types: ['job.failed'] }, { limit })).toEqual(both);
      }
    });

    it('a filter that lets nothing through moves the cursor all the same', async () => {
      const bench = await open();
      await makeHistory(bench);
      let page = await bench.store.events.read({ filter: { tenant: '*', queues: ['none'] }, limit: 2 });
      for (let calls = 0; !page.atEnd; calls++) {
        expect(calls).toBeLessThan(20);
        page = await bench.store.events.read({
          filter: { tenant: '*', queues: ['none'] },
          limit: 2,
          after: page.cursor,
        });
      }
      expect(page.events).toEqual([]);
      expect(await bench.log({}, { after: page.cursor })).toEqual([]);
      const late = await bench.add();
      expect((await bench.log({}, { after: page.cursor })).map((event) => event.jobId)).toEqual([late.id]);
    });

    it('says when events were pruned that the reader had not seen', async ({ skip }) => {
      const bench = await open();
      if (bench.store.capabilities.prunesItself) skip('the store removes what is old in its own time');
      const start = await bench.store.events.end();
      const [first] = await bench.addMany(3);
      const seenOne = (await bench.store.events.read({ filter: { tenant: '*' }, limit: 1 })).cursor;
      const seenAll = await bench.store.events.end();
      const missed = async (after?: string) =>
        (
          await bench.store.events.read({
            filter: { tenant: '*' },
            limit: 9,
            ...(after === undefined ? {} : { after }),
          })
        ).missed;
      expect([await missed(start), await missed(seenOne), await missed(seenAll)]).toEqual([false, false, false]);
      await bench.clock.advance(1000);
      await bench.command(first!, { do: 'cancel' });
      const none = { finishedBefore: 0, deadBefore: 0 };
      await bench.store.prune({ ...none, eventsBefore: bench.now, limit: 100 });
      expect([await missed(start), await missed(seenOne), await missed(seenAll)]).toEqual([true, true, false]);
      // Whoever begins with the oldest event kept misses none, and whoever was told once is not told again.
      expect(await missed()).toBe(false);
      const page = await bench.store.events.read({ filter: { tenant: '*' }, after: start, limit: 9 });
      expect(page).toMatchObject({ events: [{ type: 'job.cancelled' }], atEnd: true, missed: true });
      expect(await missed(page.cursor)).toBe(false);
    });

    it('A22: a place that this log has never reached belongs to another one: the reader is told, and begins anew', async () => {
      const [one, other] = [await open(), await open()];
      await makeHistory(other);
      await makeHistory(other);
      const after = await other.store.events.end();
      const job = await one.add();
      const page = await one.store.events.read({ filter: { tenant: '*' }, after, limit: 10 });
      expect(page).toMatchObject({ events: [{ jobId: job.id }], missed: true });
      expect(await one.store.events.read({ filter: { tenant: '*' }, after: page.cursor, limit: 10 })).toMatchObject({
        ...{ events: [], missed: false },
      });
    });

    it('the end of the log is behind everything so far and before everything to come', async () => {
      const bench = await open();
      const empty = await bench.store.events.end();
      await makeHistory(bench);
      expect(await bench.log({}, { after: empty })).toHaveLength(12);
      const end = await bench.store.events.end();
      expect(await bench.store.events.read({ filter: { tenant: '*' }, after: end, limit: 5 })).toMatchObject({
        events: [],
        atEnd: true,
      });
      const job = await bench.add();
      expect((await bench.log({}, { after: end })).map((event) => event.jobId)).toEqual([job.id]);
    });

    // fault: ten writers write while the log is read
    it('guarantee 4: a reader that follows concurrent writers misses nothing and sees nothing twice', async () => {
      const bench = await open();
      const seen: LoggedEvent[] = [];
      let after = await bench.store.events.end();
      let writing = true;
      const follow = async () => {
        for (let atEnd = false; writing || !atEnd; ) {
          const last = !writing;
          const page = await bench.store.events.read({ filter: { tenant: '*' }, after, limit: 7 });
          seen.push(...page.events);
          after = page.cursor;
          atEnd = page.atEnd && last;
          // Gives writers a turn when reading needs no input or output of its own.
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      const write = async () => {
        for (let i = 0; i < 5; i++) await bench.settle(await bench.start(), COMPLETED);
      };
      const reader = follow();
      await Promise.all(Array.from({ length: 10 }, write));
      writing = false;
      await reader;
      expect(seen).toHaveLength(150);
      expect(new Set(seen.map((event) => event.cursor)).size).toBe(150);
      const byJob = Map.groupBy(seen, (event) => event.jobId);
      for (const events of byJob.values()) expect(events.map((event) => event.sequence)).toEqual([1, 2, 3]);
    });
  });
}
