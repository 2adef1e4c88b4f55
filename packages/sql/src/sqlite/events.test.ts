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

  it('the events of a handful of jobs are found in one call', async () => {
    const { store, jobs } = await manySegments();
    const jobIds = [jobs[1]!.id, jobs[MANY - 2]!.id];
    const page = await store.events.read({ filter: { tenant: '*', jobIds }, limit: 10 });
    expect(page).toMatchObject({ events: jobIds.map((jobId) => ({ jobId })), atEnd: true });
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

  it('ends at any place that it is told to end at, and goes on behind it', async () => {
    const store = await openStore({ path: ':memory:' });
    await add(store, {}, {}, {}, {});
    await add(store, {}, {});
    const { events } = await store.events.read({ filter: { tenant: '*' }, limit: 100 });
    const ids = events.map(({ jobId }) => jobId);
    for (const [index, { cursor: until }] of events.entries()) {
      const page = await store.events.read({ filter: { tenant: '*' }, until, limit: 100 });
      expect(page).toMatchObject({ atEnd: true, cursor: until });
      expect(page.events.map(({ jobId }) => jobId)).toEqual(ids.slice(0, index + 1));
      const full = await store.events.read({ filter: { tenant: '*' }, until, limit: index + 1 });
      expect(full).toMatchObject({ atEnd: true, cursor: until });
    }
  });

  it('a filter that lets nothing through reaches the end that it is told, page by page', async () => {
    const { store } = await manySegments();
    const until = await store.events.end();
    await add(store, { queue: 'last' });
    const filter: EventFilter = { tenant: '*', queues: ['none'] };
    const first = await store.events.read({ filter, until, limit: 10 });
    expect(first).toMatchObject({ events: [], atEnd: false });
    const pages = [first];
    while (!pages.at(-1)!.atEnd) {
      pages.push(await store.events.read({ filter, until, after: pages.at(-1)!.cursor, limit: 10 }));
    }
    expect(pages).toHaveLength(Math.ceil(MANY / 64));
    expect(pages.at(-1)!.cursor).toBe(until);
  });

  it('up to a place that was pruned there is nothing, and a reader from before it hears so', async () => {
    const store = await openStore({ path: ':memory:' });
    const start = await store.events.end();
    await add(store, {}, {});
    const until = await store.events.end();
    await add(store, {}, {});
    await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: Date.now() * 2, limit: 3 });
    const read = (after?: string) =>
      store.events.read({ filter: { tenant: '*' }, until, limit: 10, ...(after !== undefined && { after }) });
    expect(await read()).toEqual({ events: [], cursor: until, atEnd: true, missed: false });
    expect(await read(start)).toEqual({ events: [], cursor: until, atEnd: true, missed: true });
  });

  it('refuses a cursor that it did not make', async () => {
    const store = await openStore({ path: ':memory:' });
    for (const after of ['', 'x', '1.', '-1', '1.2.3']) {
      for (const place of [{ after }, { until: after }]) {
        await expect(store.events.read({ filter: { tenant: '*' }, ...place, limit: 1 })).rejects.toMatchObject({
          code: 'invalid_request',
        });
      }
    }
  });
});
