import type { ClaimCall } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import type { WorkerOptions } from './options.ts';
import { type AnyTask, task } from './task.ts';
import { bench, gate } from './testing/bench.ts';
import { Worker } from './worker.ts';

/** A bench with a task for each queue, named like it, that notes every start, and every claim in `claims`. */
function queues(...names: readonly string[]) {
  const parts = bench();
  const starts: string[] = [];
  const claims: ClaimCall[] = [];
  const tasks = names.map((name) => task(`${name}.one`, { queue: name, run: () => void starts.push(name) }));
  const claim = (call: ClaimCall) => {
    claims.push(call);
    return parts.jobs.claim(call);
  };
  const add = async (name: string, count: number): Promise<string> => {
    const request = { type: `${name}.one`, args: [], options: { queue: name } };
    const made = await parts.waybill.jobs.enqueueMany(Array.from({ length: count }, () => request));
    return made.at(-1)!.id;
  };
  const work = (options: Partial<WorkerOptions> = {}, those: readonly AnyTask[] = tasks) =>
    parts.work(those, { jobs: { ...parts.jobs, claim }, ...options });
  return { ...parts, starts, claims, tasks, add, work };
}

const countOf = (starts: readonly string[], name: string): number => starts.filter((one) => one === name).length;

describe('fair order', () => {
  it('D7: 20 mails behind 600 bulk jobs are all started within the first 60 starts', async () => {
    const { add, work, happened, starts } = queues('bulk', 'mail');
    const bulk = await add('bulk', 600);
    await add('mail', 20);
    work();
    await happened(bulk, 'job.completed');
    expect(starts).toHaveLength(620);
    expect(starts.lastIndexOf('mail')).toBeLessThan(60);
  });

  it.each([{ concurrency: 10 }, { concurrency: 3 }, { concurrency: 1, prefetch: 0 }, { concurrency: 7, prefetch: 13 }])(
    'D7: weights of 3 to 1 share the starts 3 to 1 while both have jobs (%o)',
    async (options) => {
      const { add, work, happened, starts } = queues('bulk', 'mail');
      const bulk = await add('bulk', 600);
      await add('mail', 600);
      work({ queues: { bulk: {}, mail: { weight: 3 } }, ...options });
      await happened(bulk, 'job.completed');
      const both = starts.slice(0, starts.lastIndexOf('mail') + 1);
      expect(countOf(both, 'mail')).toBe(600);
      expect(Math.abs(countOf(both, 'bulk') - 200)).toBeLessThanOrEqual(20);
      // Also in between, not only at the end.
      expect(Math.abs(countOf(both.slice(0, 400), 'mail') - 300)).toBeLessThanOrEqual(25);
    },
  );

  it('D7: names every queue in every claim, so that an empty queue costs no call', async () => {
    const { add, work, happened, claims, starts } = queues('bulk', 'mail', 'odd');
    const last = await add('bulk', 100);
    work({ concurrency: 10, prefetch: 0 });
    await happened(last, 'job.completed');
    expect(starts).toHaveLength(100);
    for (const { queues: named, waitMs } of claims) {
      expect([...named].sort()).toEqual(['bulk', 'mail', 'odd']);
      expect(waitMs).toBe(20_000);
    }
    // As many jobs as there is room for: none of these claims was made smaller for the sake of the order.
    expect(claims[0]!.count).toBe(10);
  });

  it('D7: a queue that was idle cannot hold up the others afterwards', async () => {
    const { add, work, happened, starts } = queues('bulk', 'mail');
    await happened(await startWith('bulk', 300), 'job.completed');
    starts.length = 0;
    const [mail] = [await add('mail', 200), await add('bulk', 200)];
    await happened(mail, 'job.completed');
    expect(countOf(starts.slice(0, 100), 'bulk')).toBeGreaterThanOrEqual(30);

    async function startWith(name: string, count: number): Promise<string> {
      const id = await add(name, count);
      work({ concurrency: 5 });
      return id;
    }
  });

  it('priorities within a queue stay as they are', async () => {
    const { waybill, work, add, happened, starts } = queues('bulk', 'mail');
    const order: unknown[] = [];
    const ranked = task('ranked.one', { queue: 'mail', run: (n: number) => void order.push(n) });
    const bulk = await add('bulk', 50);
    for (const priority of [1, 3, 2])
      await waybill.jobs.enqueue({ type: 'ranked.one', args: [priority], options: { queue: 'mail', priority } });
    work({ concurrency: 1, prefetch: 0 }, [
      ranked,
      task('bulk.one', { queue: 'bulk', run: () => void starts.push('') }),
    ]);
    await happened(bulk, 'job.completed');
    expect(order).toEqual([3, 2, 1]);
  });
});

describe('strict order', () => {
  it('D7: runs every job of an earlier queue first, and names the queues in that order', async () => {
    const { add, work, happened, starts, claims } = queues('bulk', 'mail');
    await add('bulk', 200);
    const mail = await add('mail', 20);
    work({ order: 'strict' });
    await happened(mail, 'job.completed');
    expect(starts).toEqual([...Array(200).fill('bulk'), ...Array(20).fill('mail')]);
    expect(new Set(claims.map(({ queues: named }) => named.join()))).toEqual(new Set(['bulk,mail']));
  });

  it('D7: looks into an earlier queue also while that one has a tight bound', async () => {
    const { add, work, happened, starts } = queues('mail', 'bulk');
    const bulk = await add('bulk', 60);
    await add('mail', 5);
    work({ order: 'strict', concurrency: 4, prefetch: 0, queues: { mail: { concurrency: 1 }, bulk: {} } });
    await happened(bulk, 'job.completed');
    expect(starts[0]).toBe('mail');
    expect(starts.lastIndexOf('mail')).toBeLessThan(30);
  });
});

describe('concurrency per queue', () => {
  /** Tasks whose runs wait for the test, with how many run and have run at most. */
  function held(...names: readonly string[]) {
    const parts = bench();
    const now = new Map(names.map((name) => [name, { running: 0, most: 0, started: 0 }]));
    const releases = new Map(names.map((name) => [name, [] as (() => void)[]]));
    const tasks = names.map((name) =>
      task(`${name}.one`, {
        queue: name,
        run: async () => {
          const seen = now.get(name)!;
          seen.running += 1;
          seen.started += 1;
          seen.most = Math.max(seen.most, seen.running);
          const { opened, open } = gate();
          releases.get(name)!.push(open);
          await opened;
          seen.running -= 1;
        },
      }),
    );
    const add = (name: string, count: number) =>
      parts.waybill.jobs.enqueueMany(
        Array.from({ length: count }, () => ({ type: `${name}.one`, args: [], options: { queue: name } })),
      );
    const release = (name: string) => releases.get(name)!.shift()!();
    return { ...parts, now, tasks, add, release };
  }

  it('D7: is never exceeded, and a full queue holds up no other', async () => {
    const { work, tasks, add, now, release, happened, waybill } = held('bulk', 'mail');
    const bulk = await add('bulk', 12);
    const mail = await add('mail', 12);
    const worker = work(tasks, { concurrency: 5, queues: { bulk: { concurrency: 2 }, mail: {} } });
    await happened(mail[2]!.id, 'job.started');
    await expect.poll(() => worker.running).toBe(5);
    expect([now.get('bulk')!.running, now.get('mail')!.running, worker.waiting]).toEqual([2, 3, 0]);
    for (let n = 0; n < 12; n += 1) {
      release('mail');
      await happened(mail[n]!.id, 'job.completed');
    }
    // The free slots stay free: what the bulk queue may not run is not claimed.
    expect([worker.running, worker.waiting]).toEqual([2, 0]);
    for (const { id } of bulk.slice(2)) expect((await waybill.jobs.get(id)).state).toBe('available');
    for (let n = 0; n < 12; n += 1) {
      await expect.poll(() => now.get('bulk')!.started).toBeGreaterThan(n);
      release('bulk');
      await happened(bulk[n]!.id, 'job.completed');
    }
    expect(now.get('bulk')!.most).toBe(2);
  });

  it('D7: counts jobs that were claimed ahead', async () => {
    const { work, tasks, add, release, happened, waybill } = held('bulk');
    const bulk = await add('bulk', 8);
    const worker = work(tasks, { concurrency: 2, prefetch: 6, queues: { bulk: { concurrency: 3 } } });
    await happened(bulk[2]!.id, 'job.started');
    expect([worker.running, worker.waiting]).toEqual([2, 1]);
    const { items } = await waybill.jobs.list({ filter: { states: ['active'] }, limit: 10 });
    expect(items).toHaveLength(3);
    release('bulk');
    await happened(bulk[3]!.id, 'job.started');
    expect([worker.running, worker.waiting]).toEqual([2, 1]);
  });

  it('D7: a queue is claimed again as soon as one of its runs ends, though a claim waits for the others', async () => {
    const { work, tasks, add, release, happened, clock } = held('bulk', 'mail');
    const bulk = await add('bulk', 2);
    work(tasks, { concurrency: 5, queues: { bulk: { concurrency: 1 }, mail: {} } });
    await happened(bulk[0]!.id, 'job.started');
    // Asleep are the heartbeat, the engine's sweep and pruning, and the claim that waits for mail.
    await clock.whenSleeping(4);
    const before = clock.monotonic();
    release('bulk');
    await happened(bulk[1]!.id, 'job.started');
    expect(clock.monotonic()).toBe(before);
  });

  it('D7: a job that arrives is found at once, whichever queue it is in', async () => {
    const { work, tasks, add, happened, clock } = held('one', 'two', 'three');
    work(tasks, { concurrency: 10, queues: { one: { concurrency: 1 }, two: { concurrency: 3 }, three: {} } });
    const before = clock.monotonic();
    for (const name of ['three', 'two', 'one', 'three', 'two', 'three']) {
      const [job] = await add(name, 1);
      await happened(job!.id, 'job.started');
    }
    expect(clock.monotonic()).toBe(before);
  });

  it('D7: is given back by runs that are lost, fail, or are handed back', async () => {
    const { work, add, happened, waybill, clock } = bench();
    const release = gate();
    const one = task('one.one', { queue: 'one', retry: { max_attempts: 1 }, run: () => release.opened });
    const fails = task('one.fails', {
      queue: 'one',
      retry: { max_attempts: 1 },
      run: () => {
        throw new Error('no');
      },
    });
    const worker = work([one, fails], { concurrency: 2, prefetch: 2, queues: { one: { concurrency: 3 } } });
    const jobs = [await add(one), await add(one), await add(one)];
    for (const { id } of jobs) await happened(id, 'job.started');
    expect([worker.running, worker.waiting]).toEqual([2, 1]);
    // The one that waits is lost, then one that runs.
    for (const job of [jobs[2]!, jobs[0]!]) {
      await waybill.jobs.cancel(job.id);
      await clock.advance(20_000);
    }
    for (let n = 0; n < 5; n += 1) await happened((await add(fails)).id, 'job.discarded');
    release.open();
    await happened(jobs[1]!.id, 'job.completed');
  });

  it('D7: costs few calls: the other queues are claimed in large numbers beside a tight bound', async () => {
    const { add, work, happened, claims } = queues('mail', 'bulk');
    const bulk = await add('bulk', 500);
    work({ concurrency: 50, prefetch: 0, queues: { mail: { concurrency: 1 }, bulk: {} } });
    await happened(bulk, 'job.completed');
    const asked = claims.filter(({ queues: named }) => !named.includes('mail')).map(({ count }) => count);
    expect(Math.max(...asked.map((count) => count ?? 0))).toBeGreaterThanOrEqual(49);
  });

  it('D7: no claim asks for more jobs than each of its queues may have, and none waits that leaves an open one out', async () => {
    const { add, work, happened, claims, starts } = queues('one', 'two', 'bulk');
    await add('one', 40);
    await add('two', 40);
    const bulk = await add('bulk', 200);
    work({ concurrency: 20, queues: { one: { concurrency: 2, weight: 3 }, two: { concurrency: 5 }, bulk: {} } });
    await happened(bulk, 'job.completed');
    expect(starts).toHaveLength(280);
    const most: Record<string, number> = { one: 2, two: 5, bulk: 40 };
    for (const { queues: named, count, waitMs } of claims) {
      for (const name of named) expect(count).toBeLessThanOrEqual(most[name]!);
      if (waitMs !== 0) expect(named).toContain('bulk');
    }
  });
});

describe('a worker goes on', () => {
  it('D7: with the jobs of a claim whose answer was lost, within the bounds', async () => {
    const { jobs, tasks, add, happened, clock, work, starts } = queues('bulk', 'mail');
    let calls = 0;
    const claim = async (call: ClaimCall) => {
      const leases = await jobs.claim(call);
      calls += 1;
      if (calls === 1) throw new TypeError('fetch failed');
      return leases;
    };
    const last = await add('bulk', 10);
    work({ jobs: { ...jobs, claim }, queues: { bulk: { concurrency: 2 }, mail: {} } }, tasks);
    await clock.whenSleeping();
    await clock.advance(1_000);
    await happened(last, 'job.completed');
    expect(starts).toHaveLength(10);
  });
});

describe('queue options', () => {
  const make = (options: object) => () =>
    new Worker({ jobs: bench().jobs, tasks: [task('a.a', { run: () => 1 })], ...options });

  it.each([
    [{ queues: { mail: { wieght: 3 } } }, "has the unknown option 'wieght' for 'mail'"],
    [{ queues: { mail: { wieght: 3 } } }, "Did you mean 'weight'?"],
    [{ queues: { mail: { concurency: 3 } } }, "Did you mean 'concurrency'?"],
    [{ queues: { mail: { weight: 0 } } }, "has 'mail' with weight 0. Use an integer from 1 to 1000."],
    [{ queues: { mail: { weight: 1.5 } } }, "has 'mail' with weight 1.5."],
    [{ queues: { mail: { weight: '3' } } }, "has 'mail' with weight 3."],
    [{ queues: { mail: { concurrency: -1 } } }, "has 'mail' with concurrency -1."],
    [{ queues: { mail: 3 } }, "must have an object for 'mail'"],
    [{ queues: 'mail' }, 'must be a list of names'],
    [{ queues: {} }, "'queues' or at least one task is required"],
    [{ queues: [] }, "'queues' or at least one task is required"],
    [{ queues: ['Mail'] }, 'queues'],
    [{ order: 'strickt' }, "must be 'fair' or 'strict', not 'strickt'. Did you mean 'strict'?"],
    [{ order: 'strict', queues: { mail: { weight: 2 } } }, "which means nothing with order 'strict'"],
  ])('D7: %j is refused', (options, message) => {
    expect(make(options)).toThrow(message);
  });

  it('D7: a queue that is named twice is claimed once', async () => {
    const { work, claims, add, happened } = queues('mail');
    work({ queues: ['mail', 'mail'] });
    await happened(await add('mail', 1), 'job.completed');
    expect(claims[0]!.queues).toEqual(['mail']);
  });
});
