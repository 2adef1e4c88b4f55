import { EventEmitter, once } from 'node:events';
import { type ClaimCall, silentLogger } from '@waybill/core';
import { task, Worker, type WorkerOptions } from '@waybill/worker';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Connection } from './connect.ts';
import { embedded, overHttp } from './testing/open-connection.ts';

/** Tasks of the queues `bulk` and `mail` that note their starts, how many of each run at once, and every claim. */
function watched(waybill: Connection) {
  const starts: string[] = [];
  const claims: ClaimCall[] = [];
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const ends = new EventEmitter();
  const tasks = ['bulk', 'mail'].map((name) =>
    task(`${name}.one`, {
      queue: name,
      run: async () => {
        starts.push(name);
        const now = (running.get(name) ?? 0) + 1;
        running.set(name, now);
        most.set(name, Math.max(most.get(name) ?? 0, now));
        await new Promise((resolve) => setImmediate(resolve));
        running.set(name, running.get(name)! - 1);
        ends.emit('end');
      },
    }),
  );
  const claim = (call: ClaimCall) => {
    claims.push(call);
    return waybill.jobs.claim(call);
  };
  const add = (name: string, count: number) =>
    waybill.jobs.enqueueMany(
      Array.from({ length: count }, () => ({ type: `${name}.one`, args: [], options: { queue: name } })),
    );
  const work = (options: Partial<WorkerOptions> = {}) => {
    const worker = new Worker({ jobs: { ...waybill.jobs, claim }, tasks, logger: silentLogger, ...options }).start();
    onTestFinished(() => worker.stop());
  };
  const allStarted = async (count: number) => {
    while (starts.length < count) await once(ends, 'end');
  };
  return { starts, claims, most, add, work, allStarted };
}

describe.each([
  ['embedded on SQLite', embedded],
  ['over HTTP', overHttp],
])('a worker on two queues, %s', (_, open) => {
  it('D7: starts 20 mails behind 600 bulk jobs within the first 60 starts', async () => {
    const { starts, add, work, allStarted } = watched(await open());
    await add('bulk', 600);
    await add('mail', 20);
    work();
    await allStarted(620);
    expect(starts.lastIndexOf('mail')).toBeLessThan(60);
  });

  it('D7: starts them by their weights', async () => {
    const { starts, add, work, allStarted } = watched(await open());
    await add('bulk', 300);
    await add('mail', 300);
    work({ queues: { bulk: {}, mail: { weight: 3 } } });
    await allStarted(600);
    const both = starts.slice(0, starts.lastIndexOf('mail') + 1);
    const bulk = both.filter((name) => name === 'bulk').length;
    expect(bulk).toBeGreaterThanOrEqual(80);
    expect(bulk).toBeLessThanOrEqual(120);
  });

  it('D7: keeps the order that it was given where it is asked to', async () => {
    const { starts, add, work, allStarted } = watched(await open());
    await add('bulk', 100);
    await add('mail', 10);
    work({ queues: ['bulk', 'mail'], order: 'strict' });
    await allStarted(110);
    expect(starts.indexOf('mail')).toBe(100);
  });

  it('D7: never runs more of a queue than its bound, and goes on with the other', async () => {
    const { starts, claims, most, add, work, allStarted } = watched(await open());
    await add('bulk', 60);
    await add('mail', 60);
    work({ queues: { bulk: { concurrency: 2 }, mail: {} }, concurrency: 8 });
    await allStarted(120);
    expect(most.get('bulk')).toBeLessThanOrEqual(2);
    expect(most.get('mail')).toBeGreaterThan(2);
    // Also of jobs that come while every claim waits.
    await add('bulk', 10);
    await allStarted(130);
    expect(most.get('bulk')).toBeLessThanOrEqual(2);
    for (const { queues, count } of claims) if (queues.includes('bulk')) expect(count).toBeLessThanOrEqual(2);
    expect(starts).toHaveLength(130);
  });
});
