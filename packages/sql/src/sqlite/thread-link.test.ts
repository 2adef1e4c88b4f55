import type { Worker } from 'node:worker_threads';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { add, inChild, lock, openStore, tempFile } from './testing/temp-store.ts';
import { endIdleThreads } from './thread-pool.ts';

const threads = vi.hoisted((): Worker[] => []);

vi.mock('node:worker_threads', async (original) => {
  const actual = await original<typeof import('node:worker_threads')>();
  class Watched extends actual.Worker {
    constructor(...parameters: ConstructorParameters<typeof Worker>) {
      super(...parameters);
      threads.push(this);
    }
  }
  return { ...actual, Worker: Watched };
});

beforeEach(async () => {
  await endIdleThreads();
  threads.length = 0;
});

const ENDED = { code: 'unavailable', message: 'The SQLite thread ended unexpectedly.', retryable: true };
const CLOSED = { code: 'unavailable', message: 'The store is closed.' };

describe('a thread that dies', () => {
  it('rejects what was under way, and the next call finds a new one', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    const [job] = await add(store, {});
    const other = lock(path);
    const underWay = [add(store, {}), store.get([job!])];
    await Promise.all([...underWay.map((call) => expect(call).rejects.toMatchObject(ENDED)), threads[0]!.terminate()]);
    other.release();
    expect(await store.get([job!])).toEqual([job]);
    expect(await store.count({ tenant: '' }, { atMost: 10 })).toBe(1);
    expect(threads).toHaveLength(2);
  });

  it('is replaced at once, tells listeners to look, and goes on noticing other processes', async () => {
    const path = tempFile();
    const store = await openStore({ path, wakeEveryMs: 5 });
    const restarted = new Promise<void>((resolve) => store.onWake(() => resolve()));
    await threads[0]!.terminate();
    await restarted;
    expect(threads).toHaveLength(2);
    const woken = new Promise<void>((resolve) => store.onWake(() => resolve()));
    await inChild(path, 'await (await sqliteStore({ path })).insert([{ jobs: [aJob()] }]);');
    await woken;
  });

  it('tells who listens to journals to look, at all of them', async () => {
    const store = await openStore();
    const told = new Promise<readonly string[] | undefined>((resolve) => store.journal!.onGrown(resolve));
    await threads[0]!.terminate();
    expect(await told).toBeUndefined();
  });

  it('takes an in-memory database with it: every call is refused then', async () => {
    const store = await openStore({ path: ':memory:' });
    await add(store, {});
    await threads[0]!.terminate();
    await expect(store.ping()).rejects.toMatchObject({ code: 'unavailable' });
    await expect(store.ping()).rejects.toThrow('and the database with it');
    expect(threads).toHaveLength(1);
  });
});

describe('closing', () => {
  it('answers the calls under way, then refuses every call', async () => {
    const path = tempFile();
    const store = await openStore({ path });
    const calls = Array.from({ length: 30 }, () => add(store, {}));
    const closed = store.close();
    await expect(store.ping()).rejects.toMatchObject(CLOSED);
    await Promise.all([...calls, closed]);
    await expect(store.insert([])).rejects.toMatchObject(CLOSED);
    await expect(store.events.end()).rejects.toMatchObject(CLOSED);
    await store.close();
    const again = await openStore({ path });
    expect(await again.count({ tenant: '' }, { atMost: 99 })).toBe(30);
  });

  it('leaves its thread to the next store, also when the file could not be opened', async () => {
    const first = await openStore({ path: tempFile() });
    await add(first, {});
    await first.close();
    await expect(openStore({ path: '/dev/null/not-a-folder/jobs.db' })).rejects.toMatchObject({ code: 'unavailable' });
    const path = tempFile();
    const second = await openStore({ path });
    expect(await second.count({ tenant: '' }, { atMost: 9 })).toBe(0);
    await add(second, {});
    expect(threads).toHaveLength(1);
    // Its death now is the second store's matter alone.
    await threads[0]!.terminate();
    expect(await second.count({ tenant: '' }, { atMost: 9 })).toBe(1);
    expect(threads).toHaveLength(2);
  });

  it('a store that nobody closed does not hold up the end of the process', async () => {
    const code = `
      const store = await sqliteStore({ path });
      store.onWake(() => {});
      await store.insert([{ jobs: [aJob()] }]);
      console.log('end');`;
    expect(await inChild(tempFile(), code)).toBe('end');
  });

  it('a call under way does', async () => {
    const code = `
      const store = await sqliteStore({ path });
      store.insert([{ jobs: [aJob()] }]).then(() => console.log('inserted'));`;
    expect(await inChild(tempFile(), code)).toBe('inserted');
  });
});
