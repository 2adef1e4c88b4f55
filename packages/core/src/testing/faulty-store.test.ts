import { describe, expect, it } from 'vitest';
import { memoryStore } from '../store/memory/memory-store.ts';
import { aCron, aJob } from './factories.ts';
import { type Fault, faultyStore } from './faulty-store.ts';
import { TestClock } from './test-clock.ts';

const over = (plan: readonly Fault[]) => {
  const clock = new TestClock();
  return faultyStore(memoryStore({ clock }), plan);
};

const everything = { filter: { tenant: '' }, limit: 10 };

describe('faultyStore', () => {
  it('before: throws, and nothing has happened', async () => {
    const store = over([{ method: 'insert', call: 1, when: 'before' }]);
    await expect(store.insert([{ jobs: [aJob()] }])).rejects.toThrow('broke before the effect of insert, call 1');
    expect((await store.list(everything)).items).toEqual([]);
  });

  it('after: throws, and it has happened', async () => {
    const store = over([{ method: 'insert', call: 1, when: 'after' }]);
    const made = aJob();
    await expect(store.insert([{ jobs: [made] }])).rejects.toThrow('broke after the effect of insert, call 1');
    expect((await store.list(everything)).items).toEqual([made.job]);
    expect(await store.insert([{ jobs: [made] }])).toMatchObject([{ status: 'exists' }]);
  });

  it('fails the call that the plan names and no other, and counts them all', async () => {
    const store = over([{ method: 'ping', call: 2, when: 'before' }]);
    await store.ping();
    await expect(store.ping()).rejects.toThrow();
    await store.ping();
    expect([store.calls('ping'), store.calls('insert')]).toEqual([3, 0]);
  });

  it('reaches into the groups', async () => {
    const error = new TypeError('mine');
    const store = over([
      { method: 'limits.set', call: 1, when: 'after', error },
      { method: 'events.end', call: 1, when: 'before', error },
      { method: 'queues.setPaused', call: 1, when: 'after', error },
      { method: 'workflows.meet', call: 1, when: 'before', error },
      { method: 'crons.put', call: 1, when: 'after', error },
      { method: 'workers.beat', call: 1, when: 'after', error },
      { method: 'records.put', call: 1, when: 'after', error },
      { method: 'locks.take', call: 1, when: 'before', error },
    ]);
    await expect(store.limits.set('', 'k', { concurrency: 4, rate: null }, 0)).rejects.toBe(error);
    expect(await store.limits.get('', 'k')).toMatchObject({ rule: { concurrency: 4 } });
    await expect(store.events.end()).rejects.toBe(error);
    await expect(store.queues.setPaused('', 'q', true)).rejects.toBe(error);
    expect(await store.queues.list('')).toMatchObject([{ name: 'q', paused: true }]);
    await expect(store.workflows.meet({ tenant: '', ids: ['x'] })).rejects.toBe(error);
    await expect(store.crons.put(aCron({ name: 'nightly' }))).rejects.toBe(error);
    expect(await store.crons.list('')).toMatchObject([{ name: 'nightly' }]);
    await expect(store.workers.beat({ tenant: '', id: 'w', activeJobs: 0, now: 0 })).rejects.toBe(error);
    expect(await store.workers.list('')).toHaveLength(1);
    const key = { tenant: '', kind: 'note', id: 'n' };
    await expect(store.records.put([{ ...key, value: {}, expected: 0 }])).rejects.toBe(error);
    expect(await store.records.get([key])).toMatchObject([{ value: {} }]);
    await expect(store.locks.take({ name: 'l', owner: 'a', leaseMs: 1 })).rejects.toBe(error);
    expect(await store.locks.take({ name: 'l', owner: 'b', leaseMs: 1 })).toMatchObject({ status: 'held', fence: 1 });
    expect(store.calls('limits.get')).toBe(1);
  });

  it('takes faults that are added while it is in use', async () => {
    const plan: Fault[] = [];
    const store = over(plan);
    await store.ping();
    plan.push({ method: 'ping', call: store.calls('ping') + 1, when: 'before' });
    await expect(store.ping()).rejects.toThrow();
  });
});
