import type { ReportCall } from '@waybill/core';
import { WaybillError } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { HEARD_EVERY_MS } from './execute/run-reports.ts';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';

describe('what a run says of itself', () => {
  it('is kept and told, and the last word arrives before the run is settled', async () => {
    const { work, add, happened, waybill } = bench();
    const busy = task('busy.one', {
      run: (_, context) => {
        context.progress(0.25, 'a quarter');
        context.progress(0.5, { rows: 5 });
        context.progress(0.75, { rows: 7 });
      },
    });
    work([busy]);
    const job = await add(busy);
    await happened(job.id, 'job.completed');
    expect(await waybill.jobs.progress(job.id)).toMatchObject({ run: 1, fraction: 0.75, data: { rows: 7 } });
    const { events } = await waybill.events.read({ filter: { jobIds: [job.id] }, limit: 10 });
    expect(events.map(({ type }) => type)).toEqual([
      ...['job.enqueued', 'job.started', 'job.progress', 'job.progress', 'job.completed'],
    ]);
    expect(events[2]!.data).toMatchObject({ progress_percent: 25, progress_message: 'a quarter' });
  });

  it('goes out once a second at most, the newest of it', async () => {
    const { work, add, happened, waybill, clock } = bench();
    const go = gate();
    const busy = task('busy.one', {
      run: async (_, context) => {
        for (let row = 1; row <= 1000; row += 1) context.progress(row / 1000);
        await go.opened;
      },
    });
    work([busy]);
    const job = await add(busy);
    await happened(job.id, 'job.progress');
    expect(await waybill.jobs.progress(job.id)).toMatchObject({ fraction: 0.001, number: 1 });
    await clock.advance(HEARD_EVERY_MS);
    await happened(job.id, 'job.progress', 2);
    expect(await waybill.jobs.progress(job.id)).toMatchObject({ fraction: 1, number: 2 });
    go.open();
    await happened(job.id, 'job.completed');
  });

  it('a checkpoint reaches the next run', async () => {
    const { work, add, happened, clock } = bench();
    const found: unknown[] = [];
    const busy = task('busy.one', {
      retry: { max_attempts: 2, initial_interval: 'PT0.001S', jitter: false },
      run: (_, context) => {
        found.push(context.lastCheckpoint);
        if (context.attempt > 1) return;
        context.checkpoint({ row: 41 });
        throw new Error('The power went.');
      },
    });
    work([busy]);
    const job = await add(busy);
    await happened(job.id, 'job.retrying');
    await clock.advance(1);
    await happened(job.id, 'job.completed');
    expect(found).toEqual([null, { row: 41 }]);
  });

  it('harms nobody when it cannot be sent, and a warning names the task', async () => {
    const { jobs, work, add, happened, logs } = bench();
    const calls: ReportCall[] = [];
    const report = (call: ReportCall) => {
      calls.push(call);
      return Promise.reject(new WaybillError('unavailable', 'The server is away.'));
    };
    const busy = task('busy.one', { run: (_, context) => context.progress(0.5) });
    work([busy], { jobs: { ...jobs, report } });
    const job = await add(busy);
    expect(await happened(job.id, 'job.completed')).toMatchObject({ state: 'completed' });
    expect(calls).toMatchObject([{ id: job.id, number: 1, fraction: 0.5 }]);
    expect(logs.warnings()).toEqual(["A report of task 'busy.one' was not taken."]);
  });

  it('what is no object fails the run, since it is a mistake in the task', async () => {
    const { work, add, happened } = bench();
    const busy = task('busy.one', {
      retry: { max_attempts: 1 },
      run: (_, context) => context.checkpoint([] as never),
    });
    work([busy]);
    const job = await add(busy);
    expect(await happened(job.id, 'job.discarded')).toMatchObject({ errors: [{ type: 'TypeError' }] });
  });
});
