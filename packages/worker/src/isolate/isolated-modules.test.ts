import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { folderBlobStore } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import { type AnyTask, task } from '../task.ts';
import { bench } from '../testing/bench.ts';
import { asking, chatty, dated, endings, endless, files, place, spending } from './testing/tasks-module.ts';

const FAST = { isolated: { abortMs: 100, killAfterMs: 300 } };

describe('a task with isolate.module', () => {
  it('runs in a process of its own, with the input as its schema makes it', async () => {
    const { work, add, happened } = bench();
    work([dated], FAST);
    const { id } = await add(dated, '2026-01-02T00:00:00Z');
    expect((await happened(id, 'job.completed')).result).toBe(2026);
  });

  it('sees of the environment only what it may, and places of its own that are gone afterwards', async () => {
    process.env['WAYBILL_TEST_INHERITED'] = 'yes';
    process.env['WAYBILL_TEST_SECRET'] = 'planted';
    const { work, add, happened } = bench();
    work([place], FAST);
    const { id } = await add(place);
    const { result } = await happened(id, 'job.completed');
    const { pid, env } = result as { pid: number; env: Record<string, string> };
    expect(pid).not.toBe(process.pid);
    expect(env).toMatchObject({
      GREETING: 'hello',
      WAYBILL_TEST_INHERITED: 'yes',
      WAYBILL_JOB_ID: id,
      WAYBILL_ATTEMPT: '1',
    });
    expect(JSON.stringify(env)).not.toContain('planted');
    expect(env['HOME']).not.toBe(process.env['HOME']);
    expect(env['TMPDIR']).toContain('waybill-run-');
    const own = env['TMPDIR']!.split('/').find((part) => part.startsWith('waybill-run-'))!;
    await happened(id, 'job.completed');
    expect(readdirSync(tmpdir())).not.toContain(own);
    delete process.env['WAYBILL_TEST_INHERITED'];
    delete process.env['WAYBILL_TEST_SECRET'];
  });

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
    expect(logs.warnings()).toEqual([]);
  });

  it('puts what it prints into the journal and, marked, on the log of the worker', async () => {
    const { work, add, happened, waybill, logs } = bench();
    work([chatty], FAST);
    const { id } = await add(chatty);
    await happened(id, 'job.completed');
    const { entries } = await waybill.jobs.journal(id);
    const text = (stream: string) =>
      entries.flatMap((entry) => (entry.stream === stream ? [Buffer.from(entry.output!).toString()] : [])).join('');
    expect([text('stdout'), text('stderr')]).toEqual(['first line\nsecond ', 'a warning\n']);
    expect(entries.map(({ type }) => type)).toEqual(
      expect.arrayContaining(['process.started', 'step.done', 'process.ended']),
    );
    const lines = logs.lines.filter(({ level }) => level === 'info').map(({ message }) => message);
    const mark = `[isolate.chatty:${id}]`;
    expect(lines).toEqual(expect.arrayContaining([`${mark} first line`, `${mark} second `, `${mark} a warning`]));
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

  it.each([
    ['exit-0', { code: 'invalid_result', message: expect.stringContaining('process.exit()') }],
    ['exit-3', { code: 'nonzero', details: { exit_code: 3, last_output: 'no luck today\n' } }],
    ['signal', { code: 'signal', details: { signal: 'SIGTERM' } }],
    ['uncaught', { code: 'E_RANGE', type: 'RangeError', message: 'out of range' }],
    ['garbage', { code: 'invalid_result', message: expect.stringContaining('descriptor 3') }],
    ['known-failure', { code: 'known', message: 'It is final.', retryable: false, details: { turns: 3 } }],
    ['complete', { code: 'unsupported' }],
  ])('that ends by %s fails and says why', async (way, error) => {
    const { work, add, happened } = bench();
    work([endings], FAST);
    const { id } = await add(endings, way);
    expect((await happened(id, 'job.discarded')).errors).toMatchObject([error]);
  });

  it('prints no secret of an error that nothing has caught, and where it was thrown', async () => {
    const { work, add, happened, waybill, logs } = bench();
    work([endings], FAST);
    const { id } = await add(endings, 'uncaught-secret');
    const { errors } = await happened(id, 'job.discarded');
    const { entries } = await waybill.jobs.journal(id);
    const printed = entries.map(({ output }) => (output ? Buffer.from(output).toString() : '')).join('');
    expect(printed).toMatch(/Error: connect ECONNREFUSED postgres:\/\/\*\*\*@db[\s\S]* at /);
    expect(JSON.stringify([errors, entries, logs.lines, printed])).not.toContain('planted-word');
  });

  it('is not harmed by a message of its own code that makes no sense', async () => {
    const { work, add, happened } = bench();
    work([endings], FAST);
    const { id } = await add(endings, 'garbage-entry');
    expect((await happened(id, 'job.completed')).result).toBe('still fine');
  });

  it('that exceeds its own timeout is killed, and its row tells what it used', async () => {
    const { work, add, happened } = bench();
    work([endless], FAST);
    const { id } = await add(endless);
    const [error] = (await happened(id, 'job.discarded')).errors;
    expect(error).toMatchObject({ code: 'timeout', details: { outcome: 'timeout', cpu_ms: expect.any(Number) } });
  });

  it.each([
    ['a module that is not there', new URL('./no-such-module.ts', import.meta.url), 'Cannot find module'],
    [
      'a module without the task',
      new URL('./testing/tasks-module.ts', import.meta.url),
      "neither a task 'isolate.none'",
    ],
    ['a module that starts a worker', new URL('./testing/working-module.ts', import.meta.url), 'starts a worker'],
  ])('fails with a clear message for %s', async (_, module, message) => {
    const { work, add, happened } = bench();
    const none = task('isolate.none', { isolate: { module }, retry: { max_attempts: 1 } });
    work([none], FAST);
    const { id } = await add(none);
    expect((await happened(id, 'job.discarded')).errors).toMatchObject([{ message: expect.stringContaining(message) }]);
  });
});
