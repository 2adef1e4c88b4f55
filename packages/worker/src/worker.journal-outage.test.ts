import { describe, expect, it, onTestFinished } from 'vitest';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';
import { AWAY, appending, dropsTold, entriesOf, passing, said, text } from './testing/journal-bench.ts';

describe('while the server is away', () => {
  it('the same entries are sent again under the same sequences until it answers', async () => {
    const parts = bench();
    const { calls, jobs } = appending(parts, (call, times) => {
      if (times === 1) return Promise.reject(AWAY());
      // The answer to this one is lost on the way.
      if (times === 2) return parts.jobs.append(call).then(() => Promise.reject(new Error('socket hang up')));
      return undefined;
    });
    const busy = task('busy.one', { run: (_, { output }) => output('once') });
    parts.work([busy], { jobs });
    const job = await parts.add(busy);
    await passing(parts, 100, parts.happened(job.id, 'job.completed'));
    expect(calls.map(({ entries }) => entries)).toEqual([calls[0]!.entries, calls[0]!.entries, calls[0]!.entries]);
    expect((await entriesOf(parts, job.id)).map(text)).toEqual(['once']);
    expect(parts.logs.warnings()).toEqual([]);
  });

  it('memory is bounded: what does not fit is dropped, counted, and one entry says how many', async () => {
    const parts = bench();
    let isAway = true;
    const { jobs } = appending(parts, () => (isAway ? Promise.reject(AWAY()) : undefined));
    const spoken = gate();
    const go = gate();
    const busy = task('busy.one', {
      journal: { maxWaitingBytes: 65_536 },
      run: async (_, { output }) => {
        for (let line = 0; line < 100; line += 1) output('x'.repeat(1_000));
        spoken.open();
        await go.opened;
        output('back');
      },
    });
    const { told, middleware } = dropsTold();
    const worker = parts.work([busy], { jobs, middleware });
    const job = await parts.add(busy);
    await spoken.opened;
    isAway = false;
    await passing(parts, 100, said(parts, job.id, 'journal.dropped'));
    go.open();
    await passing(parts, 100, parts.happened(job.id, 'job.completed'), 1_000);
    const entries = await entriesOf(parts, job.id);
    const kept = entries.filter(({ type }) => type === 'output').length - 1;
    expect(kept).toBe(Math.floor(65_536 / 1_200));
    expect(entries.at(-2)).toMatchObject({
      type: 'journal.dropped',
      data: { entries: 100 - kept, reason: 'too_many_waiting' },
    });
    expect(text(entries.at(-1)!)).toBe('back');
    expect(entries.map(({ sequence }) => sequence)).toEqual(entries.map((_, index) => index + 1));
    expect(worker.said).toEqual({ stored: kept + 2, dropped: 100 - kept });
    expect(told).toEqual({ memory: 100 - kept });
    expect(new Set(parts.logs.warnings())).toEqual(
      new Set([
        "Entries of task 'busy.one' were not stored.",
        'A middleware failed when it was told of dropped entries.',
      ]),
    );
  });

  it('best effort is given up at the end, with one warning, and the run completes', async () => {
    const parts = bench();
    const { jobs } = appending(parts, () => Promise.reject(AWAY()));
    const busy = task('busy.one', {
      run: (_, { output }) => {
        for (let line = 0; line < 70; line += 1) output('lost');
      },
    });
    const { told, middleware } = dropsTold();
    const worker = parts.work([busy], { jobs, middleware: middleware.slice(1) });
    const job = await parts.add(busy);
    await passing(parts, 1_000, parts.happened(job.id, 'job.completed'), 120_000);
    expect(parts.logs.warnings()).toEqual(["Entries of task 'busy.one' were not stored."]);
    expect(worker.said).toEqual({ stored: 0, dropped: 70 });
    expect(told).toEqual({ given_up: 70 });
  });

  // fault: the server takes the call and never answers
  it('a server that does not answer holds the end of a run no longer than its timeout', async () => {
    const parts = bench();
    const { jobs } = appending(parts, () => new Promise<never>(() => {}));
    const busy = task('busy.one', { timeout: 3_000, run: (_, { output }) => output('lost') });
    parts.work([busy], { jobs });
    const job = await parts.add(busy);
    await parts.happened(job.id, 'job.started');
    await passing(parts, 100, parts.happened(job.id, 'job.completed'));
  });

  it('a critical entry that cannot be stored fails the run, to be tried again, with its cause', async () => {
    const parts = bench();
    const { jobs } = appending(parts, () => Promise.reject(AWAY()));
    const busy = task('busy.one', {
      run: (_, { emit }) => {
        void emit('process.started', { pid: 7 });
        return 'done';
      },
    });
    parts.work([busy], { jobs });
    const job = await parts.add(busy);
    const failed = await passing(parts, 1_000, parts.happened(job.id, 'job.retrying'), 120_000);
    expect(failed.errors).toMatchObject([
      {
        code: 'unavailable',
        message: "Could not store a critical entry of task 'busy.one': The server is away.",
        details: { cause: 'WaybillError: The server is away.' },
      },
    ]);
  });

  it('a handler that awaits a critical entry hears of it when it is stored, or cannot be', async () => {
    const parts = bench();
    let isAway = false;
    const { jobs } = appending(parts, () => (isAway ? Promise.reject(AWAY()) : undefined));
    const heard: unknown[] = [];
    const busy = task('busy.one', {
      retry: { max_attempts: 1 },
      run: async (_, { emit }) => {
        await emit('step.one', 1, { critical: true });
        heard.push('stored');
        isAway = true;
        await emit('step.two', 2, { critical: true }).catch((error: Error) => heard.push(error.message));
      },
    });
    parts.work([busy], { jobs });
    const job = await parts.add(busy);
    await passing(parts, 1_000, parts.happened(job.id, 'job.discarded'), 120_000);
    expect(heard).toEqual(['stored', expect.stringContaining('The server is away.')]);
    expect((await entriesOf(parts, job.id)).map(text)).toEqual([1]);
  });

  it('a critical entry waits for room where others are dropped', async () => {
    const parts = bench();
    let isAway = true;
    const { jobs } = appending(parts, () => (isAway ? Promise.reject(AWAY()) : undefined));
    const spoken = gate();
    const busy = task('busy.one', {
      journal: { maxWaitingBytes: 65_536 },
      run: async (_, { output, emit }) => {
        for (let line = 0; line < 100; line += 1) output('x'.repeat(1_000));
        const safe = emit('step.done', 1, { critical: true });
        spoken.open();
        await safe;
      },
    });
    parts.work([busy], { jobs });
    const job = await parts.add(busy);
    await spoken.opened;
    isAway = false;
    await passing(parts, 100, parts.happened(job.id, 'job.completed'));
    const types = (await entriesOf(parts, job.id)).map(({ type }) => type);
    expect(types.filter((type) => type !== 'output')).toEqual(['step.done', 'journal.dropped']);
  });

  it('what the handler throws is what the run fails with, whatever cannot be told of it', async () => {
    const parts = bench();
    const { jobs } = appending(parts, () => Promise.reject(AWAY()));
    const busy = task('busy.one', {
      retry: { max_attempts: 1 },
      run: async (_, { emit }) => {
        void emit('process.started', { pid: 7 });
        try {
          throw new RangeError('the real reason');
        } catch (error) {
          await emit('process.failed', { message: String(error) });
          throw error;
        }
      },
    });
    parts.work([busy], { jobs });
    const job = await parts.add(busy);
    const failed = await passing(parts, 1_000, parts.happened(job.id, 'job.discarded'), 120_000);
    expect(failed.errors).toMatchObject([{ type: 'RangeError', message: 'the real reason' }]);
  });
});

it('a worker that stops waits for no journal longer than its patience', async () => {
  const parts = bench();
  const { jobs } = appending(parts, () => new Promise<never>(() => {}));
  const busy = task('busy.one', {
    run: (_, { output, signal }) => {
      output('lost');
      return new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  });
  const worker = parts.work([busy], { jobs });
  await parts.happened((await parts.add(busy)).id, 'job.started');
  onTestFinished(() => expect(worker.running).toBe(0));
  await passing(parts, 1_000, worker.stop({ graceMs: 0 }));
  expect(parts.settled).toHaveLength(1);
});
