import type { ClaimCall, SettleCall } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import type { StandardSchemaV1 } from './standard-schema.ts';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';
import { Worker } from './worker.ts';

describe('stopping', () => {
  it('hands back what was not started, waits for what runs, and leaves nothing active', async () => {
    const { work, add, happened, waybill, settled, clock } = bench();
    const release = gate<string>();
    const held = task('held.one', { run: () => release.opened });
    const worker = work([held], { concurrency: 2, prefetch: 3 });
    const added = [];
    for (let n = 0; n < 7; n += 1) added.push(await add(held));
    await happened(added[4]!.id, 'job.started');
    const stopped = worker.stop();
    for (const { id } of added.slice(2, 5)) {
      expect(await happened(id, 'job.requeued')).toMatchObject({ state: 'available', attempt: 0, run: 1 });
    }
    // Its leases live while it waits.
    await clock.advance(24_000);
    release.open('done');
    await stopped;
    expect(settled.map(({ kind }) => kind).sort()).toEqual([
      'completed',
      'completed',
      'requeued',
      'requeued',
      'requeued',
    ]);
    expect((await waybill.jobs.list({ filter: { states: ['active'] }, limit: 10 })).items).toEqual([]);
    await worker.ended;
    expect(clock.sleepers).toBe(2);
  });

  it('aborts after its grace what still runs, and hands it back too', async () => {
    const { work, add, happened, clock, logs } = bench();
    const reasons: unknown[] = [];
    const deaf = task('deaf.one', { run: () => new Promise(() => {}) });
    const polite = task('polite.one', {
      run: (_, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason);
            reject(signal.reason);
          }),
        ),
    });
    const finishing = task('finishing.one', {
      run: (_, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('finished early'))),
    });
    const worker = work([deaf, polite, finishing]);
    const jobs = [await add(deaf), await add(polite), await add(finishing)];
    for (const { id } of jobs) await happened(id, 'job.started');
    const stopped = worker.stop({ graceMs: 5_000 });
    await clock.advance(4_999);
    expect(reasons).toEqual([]);
    await clock.advance(1);
    expect(reasons).toMatchObject([{ code: 'unavailable', message: 'The worker is stopping.' }]);
    expect(await happened(jobs[1]!.id, 'job.requeued')).toMatchObject({ state: 'available', attempt: 0 });
    expect((await happened(jobs[2]!.id, 'job.completed')).result).toBe('finished early');
    await clock.advance(1_000);
    expect(await happened(jobs[0]!.id, 'job.requeued')).toMatchObject({ state: 'available', attempt: 0 });
    await stopped;
    await clock.advance(1_000);
    expect(logs.warnings()).toContain(
      "Task 'deaf.one' goes on although its run is over: it does not heed context.signal.",
    );
  });

  it('draining waits however long it takes, until somebody hurries it', async () => {
    const { work, add, happened, clock } = bench();
    const held = task('held.one', {
      run: (_, { signal }) => new Promise((_r, no) => signal.addEventListener('abort', no)),
    });
    const worker = work([held]);
    const job = await add(held);
    await happened(job.id, 'job.started');
    const drained = worker.drain();
    await clock.advance(600_000);
    expect(worker.running).toBe(1);
    await worker.stop({ graceMs: 0 });
    await drained;
    expect(await happened(job.id, 'job.requeued')).toMatchObject({ run: 1, attempt: 0 });
  });

  it('finds the jobs of a claim that it broke off itself', async () => {
    const { jobs, work, add, happened, settled } = bench();
    const quick = task('quick.one', { run: () => 1 });
    const claimed = gate();
    // As over a network: the server claims, and the answer is cut off.
    const claim = async (call: ClaimCall) => {
      if (!call.signal) return jobs.claim(call);
      await jobs.claim({ ...call, waitMs: 0 });
      claimed.open();
      return new Promise<never>((_, reject) =>
        call.signal!.addEventListener('abort', () => reject(call.signal!.reason)),
      );
    };
    const job = await add(quick);
    const worker = work([quick], { jobs: { ...jobs, claim } });
    await claimed.opened;
    await worker.stop();
    expect(settled).toMatchObject([{ kind: 'requeued' }]);
    expect(await happened(job.id, 'job.requeued')).toMatchObject({ state: 'available', run: 1 });
  });

  it('ends even when the server is away', async () => {
    const { jobs, work, add, happened, clock, logs } = bench();
    const release = gate<string>();
    const held = task('held.one', { run: () => release.opened });
    const settle = (_: SettleCall) => Promise.reject(new Error('away'));
    const worker = work([held], { jobs: { ...jobs, settle } });
    await happened((await add(held)).id, 'job.started');
    const stopped = worker.stop();
    release.open('done');
    await logs.said('could not be settled');
    await clock.advance(25_000);
    await clock.advance(6_000);
    await stopped;
    expect(logs.warnings()).toContain('A run was not settled; its job runs again when the lease ends.');
  });

  it('ends even when the server hangs and answers nothing at all', async () => {
    const { jobs, work, add, happened, clock, logs } = bench();
    const deaf = task('deaf.one', { run: () => new Promise(() => {}) });
    const hang = () => new Promise<never>(() => {});
    let claims = 0;
    const claim = (call: ClaimCall) => {
      claims += 1;
      return claims === 1 ? jobs.claim(call) : hang();
    };
    const job = await add(deaf);
    const worker = work([deaf], {
      jobs: { claim, settle: hang, heartbeat: hang, report: hang, spend: hang, append: hang },
    });
    await happened(job.id, 'job.started');
    const stopped = worker.stop();
    await clock.advance(25_000);
    await clock.advance(6_000);
    await stopped;
    expect(logs.warnings()).toContain('A run was not settled; its job runs again when the lease ends.');
  });

  it('D12: ends although the schema of a task never answers, and hands the job back', async () => {
    const { work, add, happened, clock } = bench();
    const asked = gate();
    let isHanging = false;
    const validate = (value: unknown) => {
      if (!isHanging) return { value };
      asked.open();
      return new Promise<never>(() => {});
    };
    const schema: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'test', validate } };
    const checked = task('checked.one', { input: schema, run: () => 1 });
    const job = await add(checked);
    isHanging = true;
    const worker = work([checked]);
    await asked.opened;
    const stopped = worker.stop({ graceMs: 5_000 });
    await clock.advance(5_000);
    await stopped;
    expect(await happened(job.id, 'job.requeued')).toMatchObject({ state: 'available', attempt: 0, run: 1 });
  });

  // fault: a worker is told to terminate, and a process under the same id starts afterwards
  it('A14: a worker that was told to terminate ends, and the next one under its id works', async () => {
    const { work, add, happened, waybill, clock } = bench();
    const quick = task('quick.one', { run: () => 1 });
    const first = work([quick]);
    await happened((await add(quick)).id, 'job.completed');
    await waybill.workers.direct('worker-1', 'terminate');
    await clock.advance(20_000);
    await first.ended;
    const second = work([quick]);
    let hasEnded = false;
    void second.ended.then(() => {
      hasEnded = true;
    });
    await clock.advance(60_000);
    expect(await happened((await add(quick)).id, 'job.completed')).toMatchObject({ state: 'completed' });
    expect(hasEnded).toBe(false);
  });

  it('before it was started does nothing', async () => {
    const worker = new Worker({ jobs: bench().jobs, tasks: [task('a.a', { run: () => 1 })] });
    await Promise.all([worker.stop(), worker.stop(), worker.drain(), worker.ended]);
  });
});
