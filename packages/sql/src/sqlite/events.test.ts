import type { EventFilter, LoggedEvent } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { add, openStore } from './testing/temp-store.ts';

/** More segments than one call looks at. */
const MANY = 150;

async function manySegments() {
  const store = await openStore({ path: ':memory:' });
  const jobs = [];
  for (let i = 0; i < MANY; i += 1) jobs.push(...(await add(store, { queue: i === MANY - 1 ? 'last' : 'default' })));
  return { store, jobs };
}

describe('the log in segments', () => {
  it('a filter that lets nothing through reads on page by page, and each page moves on', async () => {
    const { store } = await manySegments();
    const seen: LoggedEvent[] = [];
    const cursors = new Set<string>();
    const filter: EventFilter = { tenant: '*', queues: ['last'] };
    for (let after: string | undefined; ; ) {
      const page = await store.events.read({ filter, limit: 10, ...(after === undefined ? {} : { after }) });
      seen.push(...page.events);
      expect(cursors.has(page.cursor)).toBe(false);
      cursors.add(page.cursor);
      after = page.cursor;
      if (page.atEnd) break;
    }
    expect(cursors.size).toBeGreaterThan(1);
    expect(seen.map(({ queue }) => queue)).toEqual(['last']);
  });

  it("one job's events are found in one call", async () => {
    const { store, jobs } = await manySegments();
    const page = await store.events.read({ filter: { tenant: '*', jobIds: [jobs[MANY - 2]!.id] }, limit: 10 });
    expect(page).toMatchObject({ events: [{ jobId: jobs[MANY - 2]!.id, type: 'job.enqueued' }], atEnd: true });
  });

  it('goes on behind each event, also inside a segment and where pruning has cut one', async () => {
    const store = await openStore({ path: ':memory:' });
    await add(store, {}, {}, {}, {}, {});
    await add(store, {}, {});
    const { events } = await store.events.read({ filter: { tenant: '*' }, limit: 100 });
    const reads = async () =>
      Promise.all(
        events.map(async ({ cursor }) => {
          const rest = await store.events.read({ filter: { tenant: '*' }, after: cursor, limit: 100 });
          return rest.events.map(({ jobId }) => jobId);
        }),
      );
    const ids = events.map(({ jobId }) => jobId);
    expect(await reads()).toEqual(ids.map((_, index) => ids.slice(index + 1)));
    const old = { finishedBefore: 0, deadBefore: 0, eventsBefore: Date.now() * 2 };
    expect(await store.prune({ ...old, limit: 3 })).toEqual({ jobs: 0, events: 3, more: true });
    expect((await store.events.read({ filter: { tenant: '*' }, limit: 100 })).events).toEqual(events.slice(3));
    expect(await reads()).toEqual(ids.map((_, index) => ids.slice(Math.max(3, index + 1))));
    expect(await store.prune({ ...old, limit: 3 })).toEqual({ jobs: 0, events: 3, more: true });
    expect(await store.prune({ ...old, limit: 3 })).toEqual({ jobs: 0, events: 1, more: false });
    expect(await store.events.read({ filter: { tenant: '*' }, limit: 100 })).toEqual({
      events: [],
      cursor: await store.events.end(),
      atEnd: true,
      missed: false,
    });
  });

  it('tells who came too late, also inside of a segment that was cut', async () => {
    const store = await openStore({ path: ':memory:' });
    const start = await store.events.end();
    await add(store, {}, {}, {});
    await add(store, {});
    const { events } = await store.events.read({ filter: { tenant: '*' }, after: start, limit: 100 });
    const cursors = [start, ...events.map(({ cursor }) => cursor)];
    const missed = () =>
      Promise.all(
        cursors.map(async (after) => (await store.events.read({ filter: { tenant: '*' }, after, limit: 1 })).missed),
      );
    expect(await missed()).toEqual([false, false, false, false, false]);
    const old = { finishedBefore: 0, deadBefore: 0, eventsBefore: Date.now() * 2 };
    await store.prune({ ...old, limit: 2 });
    expect(await missed()).toEqual([true, true, false, false, false]);
    await store.prune({ ...old, limit: 10 });
    expect(await missed()).toEqual([true, true, true, true, false]);
  });

  it('refuses a cursor that it did not make', async () => {
    const store = await openStore({ path: ':memory:' });
    for (const after of ['', 'x', '1.', '-1', '1.2.3']) {
      await expect(store.events.read({ filter: { tenant: '*' }, after, limit: 1 })).rejects.toMatchObject({
        code: 'invalid_request',
      });
    }
  });
});
