import { aJob } from '@waybill/core/testing';
import { describe, expect, it } from 'vitest';
import { add, claimRequest, lock, openStore, tempFile } from './testing/temp-store.ts';

describe('calls that share a transaction', () => {
  it('a failing call leaves no trace and does not concern the others', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    // While the file is locked, the calls pile up and then go together.
    const other = lock(path);
    const first = add(store, {});
    const bad = store.insert([{ jobs: [aJob({ queue: 'bad' })] }, { jobs: [aJob({ queue: 'worse', run: 0.5 })] }]);
    const last = add(store, {}, {});
    const read = store.count({ tenant: '' }, { atMost: 10 });
    other.release();
    await expect(bad).rejects.toMatchObject({ code: 'internal' });
    expect(await first).toHaveLength(1);
    expect(await last).toHaveLength(2);
    expect(await read).toBe(3);
    expect((await store.events.read({ filter: { tenant: '*' }, limit: 10 })).events).toHaveLength(3);
    expect((await store.queues.list('')).map(({ name }) => name)).toEqual(['default']);
    await add(store, { queue: 'bad' });
    expect((await store.queues.list('')).map(({ name }) => name)).toEqual(['bad', 'default']);
  });

  it('each sees what the calls before it did', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    const other = lock(path);
    const inserted = add(store, {}, {});
    const claimed = store.claim([claimRequest('a', 1)]);
    const again = store.claim([claimRequest('a', 1)]);
    const rest = store.claim([claimRequest('b')]);
    const cursor = store.events.end();
    other.release();
    await inserted;
    expect(await again).toEqual(await claimed);
    expect((await rest)[0]).toHaveLength(1);
    // Read inside the transaction, whose events are written at its end: nothing of it may be skipped.
    const { events } = await store.events.read({ filter: { tenant: '*' }, limit: 10 });
    expect(events.map(({ type }) => type)).toEqual(['job.enqueued', 'job.enqueued', 'job.started', 'job.started']);
    expect((await store.events.read({ filter: { tenant: '*' }, after: await cursor, limit: 10 })).atEnd).toBe(true);
  });

  it('may be many more than one transaction takes', async () => {
    const store = await openStore();
    const jobs = await Promise.all(Array.from({ length: 200 }, () => add(store, {})));
    expect(await store.count({ tenant: '' }, { atMost: 500 })).toBe(200);
    expect(new Set(jobs.flat().map(({ id }) => id)).size).toBe(200);
  });
});
