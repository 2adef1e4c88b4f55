import { type ClaimCall, type SettleCall, WaybillError } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';
import { Worker } from './worker.ts';

describe('claiming', () => {
  it('never runs more handlers than allowed, nor holds more jobs than asked for', async () => {
    const { work, add, happened, waybill, jobs } = bench();
    const release = gate();
    let most = 0;
    let now = 0;
    const counts: (number | undefined)[] = [];
    const counted = task('counted.one', {
      run: async () => {
        now += 1;
        most = Math.max(most, now);
        await release.opened;
        now -= 1;
      },
    });
    const added = await Promise.all(Array.from({ length: 30 }, () => add(counted)));
    const claim = (call: ClaimCall) => {
      counts.push(call.count);
      return jobs.claim(call);
    };
    const worker = work([counted], { concurrency: 3, prefetch: 2, jobs: { ...jobs, claim } });
    await happened(added[4]!.id, 'job.started');
    expect([worker.running, worker.waiting]).toEqual([3, 2]);
    const { items } = await waybill.jobs.list({ filter: { states: ['active'] }, limit: 100 });
    expect(items).toHaveLength(5);
    release.open();
    for (const { id } of added) await happened(id, 'job.completed');
    expect(most).toBe(3);
    expect(counts[0]).toBe(5);
  });

  it('does not claim ahead by itself while it knows nothing of its runs, and does when they are short', async () => {
    const { work, add, happened, jobs } = bench();
    const counts: (number | undefined)[] = [];
    const claim = (call: ClaimCall) => {
      counts.push(call.count);
      return jobs.claim(call);
    };
    const quick = task('quick.one', { run: () => 1 });
    work([quick], { concurrency: 4, jobs: { ...jobs, claim } });
    for (let n = 0; n < 3; n += 1) await happened((await add(quick)).id, 'job.completed');
    expect(counts[0]).toBe(4);
    expect(Math.max(...counts.map((count) => count ?? 0))).toBeGreaterThan(4);
  });

  it('takes the queues of its tasks, in order', async () => {
    const { jobs, work } = bench();
    const seen = gate<ClaimCall>();
    const claim = (call: ClaimCall) => {
      seen.open(call);
      return jobs.claim(call);
    };
    const run = () => 1;
    work([task('a.a', { queue: 'high', run }), task('b.b', { run }), task('c.c', { queue: 'high', run })], {
      jobs: { ...jobs, claim },
    });
    expect(await seen.opened).toMatchObject({
      queues: ['high', 'default'],
      count: 10,
      leaseMs: 30_000,
      waitMs: 20_000,
    });
  });

  it('a key that is refused is told ever more seldom, with what may be wrong', async () => {
    const { jobs, work, clock, logs } = bench();
    const asked = { times: 0 };
    const claim = async (call: ClaimCall) => {
      asked.times += 1;
      if (asked.times > 9) return jobs.claim(call);
      throw new WaybillError('unauthenticated', 'This server does not know who sends the request.');
    };
    work([task('quick.one', { run: () => 'done' })], { jobs: { ...jobs, claim } });
    while (asked.times < 10) {
      await clock.whenSleeping();
      await clock.advance(1_000);
    }
    const told = logs.lines.filter(({ message }) => message.includes('refuses to give'));
    expect(told.map(({ fields }) => fields)).toMatchObject(
      [1, 2, 4, 8].map((failures) => ({ failures, hint: expect.stringContaining('may be revoked or expired') })),
    );
  });

  it('waits for a server that is away, repeats the same claim, and goes on when it is back', async () => {
    const { jobs, work, add, happened, clock, logs } = bench();
    const ids: (string | undefined)[] = [];
    const away = { claims: 3 };
    const fourth = gate();
    const claim = async (call: ClaimCall) => {
      ids.push(call.claimId);
      if (ids.length === 4) fourth.open();
      // The third answer is lost on its way, after the jobs were claimed.
      if (ids.length === 3) await jobs.claim({ ...call, waitMs: 0 });
      if (ids.length <= away.claims) throw new WaybillError('unavailable', 'away');
      return jobs.claim(call);
    };
    const quick = task('quick.one', { run: () => 'done' });
    const job = await add(quick);
    work([quick], { jobs: { ...jobs, claim } });
    for (let step = 0; step < 3; step += 1) {
      await clock.whenSleeping();
      await clock.advance(1_000);
    }
    await fourth.opened;
    expect(new Set(ids.slice(0, 4)).size).toBe(1);
    expect(await happened(job.id, 'job.completed')).toMatchObject({ run: 1 });
    expect(logs.warnings()).toEqual(['Jobs could not be claimed; trying again.']);
    await logs.said('The server answers again.');
  });

  it('settles over and over until the server answers, and once is enough', async () => {
    const { jobs, work, add, happened, clock, logs, waybill } = bench();
    let calls = 0;
    const settle = async (call: SettleCall) => {
      calls += 1;
      if (calls === 2) await jobs.settle(call);
      if (calls < 4) throw new TypeError('fetch failed');
      return jobs.settle(call);
    };
    const quick = task('quick.one', { run: () => 'done' });
    const worker = work([quick], { jobs: { ...jobs, settle } });
    const job = await add(quick);
    await logs.said('could not be settled');
    await clock.advance(5_000);
    expect((await happened(job.id, 'job.completed')).result).toBe('done');
    await worker.stop();
    expect(calls).toBe(4);
    const { events } = await waybill.events.read({
      limit: 100,
      filter: { jobIds: [job.id], types: ['job.completed'] },
    });
    expect(events).toHaveLength(1);
  });

  it('drops an outcome that came too late, also when a remote server says so', async () => {
    const { jobs, work, add, happened, logs } = bench();
    let calls = 0;
    const settle = async (call: SettleCall) => {
      calls += 1;
      if (calls > 1) return jobs.settle(call);
      throw Object.assign(new Error('over'), { name: 'WaybillError', code: 'lease_lost' });
    };
    const quick = task('quick.one', { run: () => 'done' });
    work([quick], { jobs: { ...jobs, settle } });
    await add(quick);
    await logs.said("The completed run of task 'quick.one' came too late.");
    await happened((await add(quick)).id, 'job.completed');
    expect(calls).toBe(2);
  });

  it('an outcome that the server will not take becomes a failure that says so', async () => {
    const { jobs, work, add, happened } = bench();
    const settle = async (call: SettleCall) => {
      if (call.outcome.kind === 'completed') throw new WaybillError('payload_too_large', 'More than 10 bytes.');
      return jobs.settle(call);
    };
    const quick = task('quick.one', { run: () => 'more than ten bytes' });
    work([quick], { jobs: { ...jobs, settle } });
    const job = await happened((await add(quick)).id, 'job.discarded');
    expect(job.errors).toMatchObject([{ code: 'payload_too_large', message: 'More than 10 bytes.' }]);
  });
});

describe('directives', () => {
  it('quiet: no new jobs until it is told to go on', async () => {
    const { work, add, happened, waybill, clock, jobs } = bench();
    const quick = task('quick.one', { run: () => 'done' });
    const beating = gate();
    const heartbeat: typeof jobs.heartbeat = async (call) => {
      const answer = await jobs.heartbeat(call);
      beating.open();
      return answer;
    };
    work([quick], { jobs: { ...jobs, heartbeat } });
    await beating.opened;
    await waybill.workers.direct('worker-1', 'quiet');
    await clock.advance(20_000);
    const job = await add(quick);
    await clock.advance(19_000);
    expect((await waybill.jobs.get(job.id)).state).toBe('available');
    await waybill.workers.direct('worker-1', 'running');
    await clock.advance(20_000);
    await happened(job.id, 'job.completed');
  });

  it('terminate: finishes what runs and ends', async () => {
    const { work, add, happened, waybill, clock } = bench();
    const release = gate<string>();
    const held = task('held.one', { run: () => release.opened });
    const worker = work([held]);
    const job = await add(held);
    await happened(job.id, 'job.started');
    await waybill.workers.direct('worker-1', 'terminate');
    await clock.advance(20_000);
    release.open('done');
    await worker.ended;
    expect((await waybill.jobs.get(job.id)).state).toBe('completed');
    expect(() => worker.start()).toThrow('stays stopped');
  });
});

describe('options', () => {
  const run = () => 1;
  const { jobs } = { jobs: {} as never };
  it.each([
    [{ concurrency: 0 }, "'concurrency'"],
    [{ prefetch: -1 }, "'prefetch'"],
    [{ leaseMs: 1_000 }, "'heartbeatMs'"],
    [{ tasks: [task('a.a', { run }), task('a.a', { run })] }, "'tasks'"],
    [{ tasks: [] }, "'queues'"],
  ])('%o is refused', (options, name) => {
    expect(() => new Worker({ jobs, tasks: [task('a.a', { run })], ...options })).toThrow(name);
  });

  it('D2: refuses a logger that cannot log, before the first job needs it', () => {
    const { jobs } = bench();
    const tasks = [task('a.a', { run: () => 1 })];
    const logger = { warn: () => {} } as never;
    expect(() => new Worker({ jobs, tasks, logger })).toThrow("The option 'logger' has no method 'debug'.");
  });
});
