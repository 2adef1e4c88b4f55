import { lastError } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { task } from './task.ts';
import { bench } from './testing/bench.ts';

const send = task('mail.send', { run: () => 'sent' });

describe('a job of a type that no task has', () => {
  it('D10: says on its row why it does not run, and what may be meant', async () => {
    const { work, waybill, happened } = bench();
    work([send, task('report.make', { run: () => 1 })]);
    const { job } = await waybill.jobs.enqueue({ type: 'mail.sned', args: [] });
    const put = await happened(job.id, 'job.snoozed');
    expect(put).toMatchObject({ state: 'retryable', attempt: 0 });
    expect(put.errors).toMatchObject([
      {
        code: 'unknown_type',
        message: "Worker worker-1 has no task 'mail.sned'. Did you mean 'mail.send'?",
        details: { worker: 'worker-1', closest: 'mail.send' },
      },
    ]);
    const { events } = await waybill.events.read({ limit: 10, filter: { types: ['job.snoozed'] } });
    expect(events).toMatchObject([{ data: { error: { code: 'unknown_type', message: lastError(put)!.message } } }]);
  });

  it('D10: backs off, and still goes to a worker that knows it and comes later', async () => {
    const { work, waybill, happened, clock } = bench();
    const first = work([send]);
    const { job } = await waybill.jobs.enqueue({ type: 'new.task', args: [] });
    const begun = clock.now();
    for (let times = 1; times <= 4; times += 1) {
      const put = await happened(job.id, 'job.snoozed', times);
      expect(put.scheduledAt! - clock.now()).toBe(5_000 * 2 ** (times - 1));
      await clock.advance(put.scheduledAt! - clock.now());
    }
    expect(clock.now() - begun).toBe(75_000);
    await happened(job.id, 'job.snoozed', 5);
    const stopped = first.stop();
    await clock.advance(1_000);
    await stopped;
    work([task('new.task', { run: () => 'known' })], { id: 'worker-2' });
    await clock.advance(80_000);
    expect(await happened(job.id, 'job.completed')).toMatchObject({ result: 'known', attempt: 1, run: 6 });
  });

  it('D10: is told once per type, for all workers that share a logger', async () => {
    const { work, waybill, happened, logs } = bench();
    work([send]);
    work([send], { id: 'worker-2', queues: ['other'] });
    const types = ['mail.sned', 'mail.sned', 'mail.snd', 'mail.sned'];
    for (const [index, type] of types.entries()) {
      const queue = index === 3 ? 'other' : 'default';
      const { job } = await waybill.jobs.enqueue({ type, args: [], options: { queue } });
      await happened(job.id, 'job.snoozed');
    }
    expect(logs.warnings()).toHaveLength(2);
    expect(logs.warnings()[0]).toContain("has no task 'mail.sned'. Did you mean 'mail.send'?");
    expect(logs.warnings()[1]).toContain("has no task 'mail.snd'. Did you mean 'mail.send'?");
  });

  it('D10: shows in health until it was run or cancelled, and the status stays', async () => {
    const { work, waybill, happened, clock } = bench();
    const first = work([send]);
    const add = async (type: string) => (await waybill.jobs.enqueue({ type, args: [] })).job;
    const jobs = [await add('mail.sned'), await add('mail.sned'), await add('other.task')];
    for (const { id } of jobs) await happened(id, 'job.snoozed');
    const health = await waybill.health();
    expect(health).toMatchObject({
      status: 'ok',
      unknownTypes: {
        jobs: 3,
        types: [
          { type: 'mail.sned', queue: 'default', jobs: 2, reason: expect.stringContaining("mean 'mail.send'?") },
          { type: 'other.task', queue: 'default', jobs: 1 },
        ],
      },
    });
    expect(health.unknownTypes!.types[0]!.nextTryAt).toBe(clock.now() + 5_000);
    // Handed back again it is the same job.
    await clock.advance(5_000);
    for (const { id } of jobs) await happened(id, 'job.snoozed', 2);
    expect((await waybill.health()).unknownTypes?.jobs).toBe(3);
    await waybill.jobs.cancel(jobs[0]!.id);
    expect((await waybill.health()).unknownTypes?.jobs).toBe(2);
    const stopped = first.stop();
    await clock.advance(1_000);
    await stopped;
    work([task('other.task', { run: () => 1 }), task('mail.sned', { run: () => 1 })], { id: 'worker-2' });
    await clock.advance(10_000);
    for (const { id } of jobs.slice(1)) await happened(id, 'job.completed');
    expect(await waybill.health()).not.toHaveProperty('unknownTypes');
  });

  it('D10: costs a job that is known nothing on its row', async () => {
    const { work, add, happened, waybill } = bench();
    work([send]);
    expect(await happened((await add(send)).id, 'job.completed')).toMatchObject({ errors: [], retryDelayMs: null });
    expect(await waybill.health()).not.toHaveProperty('unknownTypes');
  });
});
