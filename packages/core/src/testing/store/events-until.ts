import { describe, expect, it } from 'vitest';
import type { LoggedEvent } from '../../events/job-event.ts';
import { ALL_TENANTS } from '../../store/event-log.ts';
import { type Bench, COMPLETED, type OpenBench } from './bench.ts';

const filter = { tenant: ALL_TENANTS };

/** Everything behind `after` up to `until`, and where that left the reader. */
async function upTo(bench: Bench, until: string, { after, limit = 100 }: { after?: string; limit?: number } = {}) {
  const events: LoggedEvent[] = [];
  for (let cursor = after; ; ) {
    const page = await bench.store.events.read({
      filter,
      until,
      limit,
      ...(cursor !== undefined && { after: cursor }),
    });
    events.push(...page.events);
    if (page.atEnd) return { events, cursor: page.cursor };
    expect(page.cursor).not.toBe(cursor);
    cursor = page.cursor;
  }
}

const keysOf = (events: readonly LoggedEvent[]): string[] =>
  events.map(({ jobId, sequence }) => `${jobId} ${sequence}`);

/** One reader hands over to another one: what the first has read and what the second goes on with is everything, once. */
export function testEventsUntil(open: OpenBench): void {
  describe('events up to a place', () => {
    it.each([1, 2, 100])('pages of %i end where the other reader begins', async (limit) => {
      const bench = await open();
      const start = await bench.store.events.end();
      await bench.settle(await bench.start(), COMPLETED);
      const until = await bench.store.events.end();
      await bench.settle(await bench.start(), COMPLETED);
      const whole = keysOf(await bench.log());
      const history = await upTo(bench, until, { limit });
      expect(keysOf(history.events)).toEqual(whole.slice(0, 3));
      expect(keysOf((await upTo(bench, until, { after: start, limit })).events)).toEqual(whole.slice(0, 3));
      expect(keysOf(await bench.log({}, { after: history.cursor }))).toEqual(whole.slice(3));
      expect(keysOf(await bench.log({}, { after: until }))).toEqual(whole.slice(3));
    });

    it('a reader that is there already has nothing to read', async () => {
      const bench = await open();
      await bench.add();
      const until = await bench.store.events.end();
      await bench.add();
      expect(await upTo(bench, until, { after: until })).toMatchObject({ events: [] });
    });

    it('says when the reader is further already', async () => {
      const bench = await open();
      await bench.add();
      const until = await bench.store.events.end();
      await bench.add();
      const after = await bench.store.events.end();
      const page = await bench.store.events.read({ filter, after, until, limit: 10 });
      expect(page).toMatchObject({ events: [], atEnd: false });
      const late = await bench.add();
      const behind = await bench.log({}, { after: page.cursor });
      expect(behind.map(({ jobId }) => jobId)).toEqual([late.id]);
    });

    it('the end of a page that reached the end is such a place', async () => {
      const bench = await open();
      await bench.add();
      const { cursor, atEnd } = await bench.store.events.read({ filter, limit: 10 });
      expect(atEnd).toBe(true);
      await bench.add();
      expect(await bench.log()).toHaveLength(2);
      expect((await upTo(bench, cursor)).events).toHaveLength(1);
    });

    // fault: six writers write while the log is read
    it('guarantee 4: readers that hand over beside concurrent writers lose nothing and see nothing twice', async () => {
      const bench = await open();
      const start = await bench.store.events.end();
      const write = async () => {
        for (let turn = 0; turn < 4; turn++) await bench.settle(await bench.start(), COMPLETED);
      };
      const writing = Promise.all(Array.from({ length: 6 }, write));
      const handOvers: { history: string[]; rest: () => Promise<string[]> }[] = [];
      for (let turn = 0; turn < 5; turn++) {
        const until = await bench.store.events.end();
        const history = keysOf((await upTo(bench, until, { after: start, limit: 7 })).events);
        handOvers.push({ history, rest: async () => keysOf(await bench.log({}, { after: until, limit: 7 })) });
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writing;
      for (const { history, rest } of handOvers) {
        const all = [...history, ...(await rest())];
        expect(new Set(all).size).toBe(all.length);
        expect(all).toHaveLength(72);
      }
    });

    it('refuses what is no place in the log', async () => {
      const bench = await open();
      const reading = bench.store.events.read({ filter, until: 'nonsense', limit: 1 });
      await expect(reading).rejects.toMatchObject({ code: 'invalid_request' });
    });
  });
}
