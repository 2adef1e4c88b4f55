import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderBlobStore } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import type { AnyTask } from '../task.ts';
import { bench } from '../testing/bench.ts';
import { asking, enqueuing, files, largeFiles, spending } from './testing/tasks-module.ts';

const FAST = { isolated: { abortMs: 100, killAfterMs: 300 } };

describe('what a module calls of its run', () => {
  it.each([0, 1])('asks, and is told the answer in a process of another run (%i kept warm)', async (warm) => {
    const { work, add, happened, waybill, logs } = bench();
    const one: AnyTask = { ...asking, isolate: { ...asking.isolate!, warm } };
    work([one], FAST);
    const { id } = await add(one);
    await happened(id, 'job.snoozed');
    const [question] = (await waybill.questions.list({ jobId: id })).items;
    await waybill.questions.answer(question!.id, { choice: 'no' });
    const { result } = await happened(id, 'job.completed');
    expect(result).toMatchObject({ answer: { status: 'answered', choice: 'no' }, run: 2 });
    const types = (await waybill.jobs.journal(id)).entries.map(({ run, type }) => `${run} ${type}`);
    expect(types.filter((type) => type.includes('process.'))).toEqual([
      ...['1 process.started', '1 process.ended', '2 process.started', '2 process.ended'],
    ]);
    expect(logs.warnings()).toEqual([]);
  });

  it('enqueues jobs as a handler in the worker does', async () => {
    const { work, add, happened, waybill } = bench();
    work([enqueuing], { ...FAST, defaults: { retry: { max_attempts: 9 } } });
    const parent = await add(enqueuing);
    const { result } = await happened(parent.id, 'job.completed');
    const { id, created, refused } = result as { id: string; created: boolean; refused: string[] };
    expect([created, refused]).toEqual([true, ['validation_error', 'invalid_request']]);
    const { spec, ...job } = await waybill.jobs.get(id);
    expect(job).toMatchObject({ type: 'isolate.follower', queue: 'followers', priority: 7, maxAttempts: 9 });
    expect(job).toMatchObject({ state: 'scheduled', scheduledAt: Date.UTC(2040, 0, 1) });
    expect(spec).toMatchObject({ args: [60], meta: { parent_id: parent.id } });
  });

  it('puts and gets files that are larger than a line of the channel, and is refused too large ones', async () => {
    const { work, add, happened } = bench();
    work([largeFiles], { ...FAST, files: folderBlobStore(mkdtempSync(join(tmpdir(), 'waybill-files-'))) });
    const { result } = await happened((await add(largeFiles, null)).id, 'job.completed');
    expect(result).toEqual([0, 0, 0]);
    const huge = await add(largeFiles, 64 * 1_024 * 1_024 + 1);
    expect((await happened(huge.id, 'job.completed')).result).toBe('payload_too_large');
  });

  it('spends of budgets, and is told which are used up', async () => {
    const { work, add, happened, waybill } = bench();
    await waybill.budgets.set({ unit: 'pages', period: 'total', limit: 2, key: 'ada' });
    work([spending], FAST);
    const { id } = await add(spending);
    const { result } = await happened(id, 'job.completed');
    expect(result).toEqual({ exceeded: ['pages:total:ada'], refused: ['WaybillError', 'invalid_request'] });
    expect(await waybill.budgets.get('pages:total:ada')).toMatchObject({ spent: 3 });
  });

  it('keeps files for the next run, and says how to get a place for them', async () => {
    const { work, add, happened, clock } = bench();
    work([files], { ...FAST, files: folderBlobStore(mkdtempSync(join(tmpdir(), 'waybill-files-'))) });
    const { id } = await add(files);
    await happened(id, 'job.retrying');
    await clock.advance(1_000);
    expect((await happened(id, 'job.completed')).result).toEqual({ kept: [0, 200, 255], missing: null });

    const other = bench();
    other.work([files], FAST);
    const job = await other.add(files, undefined, { retry: { max_attempts: 1 } });
    const [error] = (await other.happened(job.id, 'job.discarded')).errors;
    expect(error).toMatchObject({ code: 'unsupported', message: 'This worker has no place for files of jobs.' });
  });
});
