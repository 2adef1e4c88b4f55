import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import type { StandardSchemaV1 } from '../standard-schema.ts';
import { type AnyTask, task } from '../task.ts';
import { bench } from '../testing/bench.ts';
import { chatty, dated, endings, endless, made, place } from './testing/tasks-module.ts';

const FAST = { isolated: { abortMs: 100, killAfterMs: 300 } };

describe('a task with isolate.module', () => {
  it('runs in a process of its own, with the input as its schema makes it', async () => {
    const { work, add, happened } = bench();
    work([dated], FAST);
    const { id } = await add(dated, '2026-01-02T00:00:00Z');
    expect((await happened(id, 'job.completed')).result).toBe(2026);
  });

  it('gets what its schema has made in the worker, which is not made again', async () => {
    const { work, add, happened } = bench();
    work([made], FAST);
    const { result } = await happened((await add(made, 'a')).id, 'job.completed');
    expect(result).toEqual({ text: 'a!', madeBy: process.pid, ranBy: expect.any(Number) });
  });

  it.each([
    ['gets it too', { validate: (value: unknown) => ({ value: `${value}!` }) }, { state: 'completed', result: 'a!' }],
    [
      'is refused what no channel carries',
      { validate: () => ({ value: new Map() }) },
      { state: 'discarded', errors: [{ message: expect.stringContaining('Export what task() answers') }] },
    ],
  ])('a handler that is a default export %s', async (_, schema, expected) => {
    const { work, waybill, happened } = bench();
    const module = new URL('./testing/echoing-module.ts', import.meta.url);
    const input = { '~standard': { version: 1, vendor: 'test', ...schema } } as StandardSchemaV1;
    const echo = task('isolate.echo', { isolate: { module }, input, retry: { max_attempts: 1 } });
    work([echo as AnyTask], FAST);
    // Enqueued by another program, whose schema is not asked.
    const { job } = await waybill.jobs.enqueue({
      type: 'isolate.echo',
      args: ['a'],
      options: { retry: { max_attempts: 1 } },
    });
    await happened(job.id, expected.state === 'completed' ? 'job.completed' : 'job.discarded');
    expect(await waybill.jobs.get(job.id)).toMatchObject(expected);
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
