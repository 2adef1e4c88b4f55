import { describe, expect, it } from 'vitest';
import { add, claimRequest, inChild, lock, openStore, tempFile } from './testing/temp-store.ts';

describe('a file that others use too', () => {
  it('a call waits for a lock; reading does not; waiting has an end', async () => {
    const path = tempFile();
    const patient = await openStore({ path });
    const hasty = await openStore({ path, busyTimeoutMs: 60 });
    const other = lock(path);
    const waiting = add(patient, {});
    await expect(add(hasty, {})).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('locked by another process'),
      retryable: true,
    });
    expect(await hasty.count({ tenant: '' }, { atMost: 10 })).toBe(0);
    other.release();
    const [job] = await waiting;
    expect(await hasty.get([job!])).toEqual([job]);
    expect(await add(hasty, {})).toHaveLength(1);
  });

  it('calls that came in while the file was locked are all answered, in order', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    const other = lock(path);
    const order: number[] = [];
    const calls = Array.from({ length: 40 }, async (_, index) => {
      await add(store, {});
      order.push(index);
    });
    other.release();
    await Promise.all(calls);
    expect(order).toEqual(Array.from({ length: 40 }, (_, index) => index));
    expect(await store.count({ tenant: '' }, { atMost: 100 })).toBe(40);
  });

  it("another process's insert wakes listeners", async () => {
    const path = tempFile();
    const store = await openStore({ path, wakeEveryMs: 5 });
    expect(store.capabilities.wakesAcrossProcesses).toBe(true);
    const woken = new Promise<readonly string[] | undefined>((resolve) => store.onWake(resolve));
    const insert = `
      const store = await sqliteStore({ path });
      await store.insert([{ jobs: [aJob()] }]);
      await store.close();`;
    await inChild(path, insert);
    expect(await woken).toBeUndefined();
    expect((await store.claim([claimRequest('c')]))[0]).toHaveLength(1);
  });

  it("this process's own changes wake with the names of the queues, and nobody who has left", async () => {
    const store = await openStore();
    const woken: unknown[] = [];
    const leave = store.onWake((queues) => woken.push(queues));
    await add(store, { queue: 'a' }, { queue: 'b' }, { queue: 'c', scheduledAt: Date.now() + 60_000 });
    leave();
    await add(store, { queue: 'd' });
    expect(woken).toEqual([['a', 'b']]);
  });

  it('two processes never get the same job', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    await add(store, ...Array.from({ length: 200 }, () => ({})));
    const code = `
      const store = await sqliteStore({ path });
      const ids = [];
      for (let n = 0; ; n++) {
        const request = { tenant: '', queues: ['default'], limit: 7, claimId: process.pid + '-' + n, workerId: 'w' };
        const [jobs] = await store.claim([{ ...request, leaseMs: 30000, now: Date.now() }]);
        if (jobs.length === 0) break;
        ids.push(...jobs.map((job) => job.id));
      }
      await store.close();
      console.log(JSON.stringify(ids));`;
    const claimed = await Promise.all([1, 2, 3].map(async () => JSON.parse(await inChild(path, code)) as string[]));
    expect(claimed.flat()).toHaveLength(200);
    expect(new Set(claimed.flat()).size).toBe(200);
  });
});
