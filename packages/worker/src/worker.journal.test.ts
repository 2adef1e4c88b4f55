import { type AppendCall, type Jobs, WaybillError } from '@waybill/core';
import { describe, expect, it } from 'vitest';
import type { TaskContext } from './context.ts';
import { BATCH_MS } from './journal/run-journal.ts';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';
import { appending, dropsTold, entriesOf, passing, text } from './testing/journal-bench.ts';

type Handler = (input: unknown, context: TaskContext) => unknown;

async function ran(run: Handler, once = bench()) {
  const odd = task('odd.one', { retry: { max_attempts: 1 }, run });
  once.work([odd]);
  const job = await once.add(odd);
  return { ...once, job, outcome: await once.firstOutcome };
}

describe('what a task says', () => {
  it('is numbered from 1 without a gap, in order, and stored before the run is settled', async () => {
    const parts = bench();
    const order: string[] = [];
    const { jobs } = parts;
    const watched = {
      ...jobs,
      append: (call: AppendCall) => jobs.append(call).finally(() => order.push('stored')),
      settle: (call: Parameters<Jobs['settle']>[0]) => {
        order.push('settled');
        return jobs.settle(call);
      },
    };
    const busy = task('busy.one', {
      run: (_, { emit, output, log }) => {
        output('hello ');
        output(Uint8Array.of(0xff, 0x00), { stream: 'stderr' });
        void emit('order.priced', { total: 7 });
        log('half way', { rows: 5 });
        log('slow disk', {}, { level: 'warn' });
        log('told apart', undefined, { level: 'info' });
      },
    });
    parts.work([busy], { jobs: watched });
    const job = await parts.add(busy);
    await parts.happened(job.id, 'job.completed');
    expect(order).toEqual(['stored', 'settled']);
    expect(await entriesOf(parts, job.id)).toMatchObject([
      { run: 1, sequence: 1, type: 'output', stream: 'stdout', output: new TextEncoder().encode('hello ') },
      { sequence: 2, type: 'output', stream: 'stderr', output: Uint8Array.of(0xff, 0x00) },
      { sequence: 3, type: 'order.priced', data: { total: 7 } },
      { sequence: 4, type: 'log', data: { message: 'half way', fields: { rows: 5 } } },
      { sequence: 5, type: 'log', data: { message: 'slow disk', level: 'warn', fields: {} } },
      { sequence: 6, type: 'log', data: { message: 'told apart', fields: {} } },
    ]);
  });

  it('is sent after a moment, or at once when a batch is full, one call at a time', async () => {
    const parts = bench();
    const go = gate();
    const { calls, jobs } = appending(parts, () => undefined);
    const busy = task('busy.one', {
      run: async (_, { output }) => {
        for (let line = 1; line <= 120; line += 1) output(`${line}\n`);
        await go.opened;
      },
    });
    parts.work([busy], { jobs });
    const job = await parts.add(busy);
    const waits = parts.waybill.jobs.follow(job.id, { signal: AbortSignal.timeout(60_000) })[Symbol.asyncIterator]();
    for (let seen = 0; seen < 100; seen += 1) await waits.next();
    expect(calls.map(({ entries }) => entries.length)).toEqual([50, 50]);
    await parts.clock.advance(BATCH_MS);
    for (let seen = 0; seen < 20; seen += 1) await waits.next();
    expect(calls.map(({ entries }) => entries.length)).toEqual([50, 50, 20]);
    await waits.return?.();
    go.open();
    await parts.happened(job.id, 'job.completed');
  });

  it('costs nothing where a task says nothing: no call, no timer', async () => {
    const parts = bench();
    const { calls, jobs } = appending(parts, () => undefined);
    const quiet = task('quiet.one', { run: () => 1 });
    const go = gate();
    const held = task('held.one', { run: () => go.opened });
    parts.work([quiet, held], { jobs });
    await parts.happened((await parts.add(quiet)).id, 'job.completed');
    const before = parts.clock.sleepers;
    const job = await parts.add(held);
    await parts.happened(job.id, 'job.started');
    expect(parts.clock.sleepers).toBeLessThanOrEqual(before);
    expect(calls).toEqual([]);
    go.open();
  });

  it('of a second run stands beside that of the first and hides nothing', async () => {
    const parts = bench();
    const busy = task('busy.one', {
      retry: { max_attempts: 2, initial_interval: 'PT0.001S', jitter: false },
      run: (_, { attempt, output }) => {
        output(`attempt ${attempt}`);
        if (attempt === 1) throw new Error('no');
      },
    });
    parts.work([busy]);
    const job = await parts.add(busy);
    await parts.happened(job.id, 'job.retrying');
    await parts.clock.advance(1);
    await parts.happened(job.id, 'job.completed');
    const entries = await entriesOf(parts, job.id);
    expect(entries.map((one) => [one.run, one.sequence, text(one)])).toEqual([
      [1, 1, 'attempt 1'],
      [2, 1, 'attempt 2'],
    ]);
  });

  it('larger than a batch is cut into parts that are the same bytes together', async () => {
    const whole = Buffer.alloc(300_000, 'grüße ');
    const { job, ...parts } = await ran((_, { output }) => output(whole));
    const entries = await entriesOf(parts, job.id);
    expect(Buffer.concat(entries.map(({ output }) => output!)).equals(whole)).toBe(true);
    expect(entries.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
  });

  it.each([
    ['a name with a space', (c: TaskContext) => c.emit('two words'), "Invalid entry name 'two words'"],
    ['the name output', (c: TaskContext) => c.emit('output', 1), 'Use context.output(text)'],
    ['a name of ours', (c: TaskContext) => c.emit('journal.cut'), "is Waybill's own"],
    ['what is not JSON', (c: TaskContext) => c.emit('a.b', { n: 1n }), "not JSON: 'n' is a BigInt"],
    ['a misspelt option', (c: TaskContext) => c.emit('a.b', 1, { critcal: true } as never), 'Did you mean'],
    ['a strange stream', (c: TaskContext) => c.output('x', { stream: 'stdin' as never }), 'must be stdout or stderr'],
    ['no bytes', (c: TaskContext) => c.output(5 as never), 'takes text or bytes, not number'],
  ])('%s is a mistake in the task, and fails the run where it is made', async (_, say, message) => {
    const { outcome } = await ran((_input, context) => void say(context));
    expect(outcome).toMatchObject({ kind: 'failed', error: { message: expect.stringContaining(message) } });
  });

  it('fields that are not JSON do not keep a line from the log', async () => {
    const { job, outcome, ...parts } = await ran((_, { log }) => log('odd', { big: 1n }));
    expect(outcome.kind).toBe('completed');
    expect(await entriesOf(parts, job.id)).toMatchObject([{ data: { message: 'odd', problem: "'big' is a BigInt" } }]);
  });

  it('is not kept where the task or the worker says so', async () => {
    const parts = bench();
    const run: Handler = (_, { output, log }) => {
      output('said');
      log('logged');
    };
    const tasks = [
      task('loud.one', { run }),
      task('half.one', { journal: { log: false }, run }),
      task('quiet.one', { journal: false, run }),
      task('ending.one', { journal: false, run: (_, { emit }) => emit('process.started', { pid: 7 }) }),
    ];
    parts.work(tasks);
    const types = async (one: (typeof tasks)[number]) => {
      const job = await parts.add(one);
      await parts.happened(job.id, 'job.completed');
      return (await entriesOf(parts, job.id)).map(({ type }) => type);
    };
    expect([await types(tasks[0]!), await types(tasks[1]!)]).toEqual([['output', 'log'], ['output']]);
    expect([await types(tasks[2]!), await types(tasks[3]!)]).toEqual([[], []]);
    expect(() => task('a.a', { journal: { lgo: true } as never, run })).toThrow("Did you mean 'log'");
    expect(() => task('a.a', { journal: { maxWaitingBytes: 5 }, run })).toThrow("'journal.maxWaitingBytes' must be");
    expect(() => task('a.a', { outbox: 5 as never, run })).toThrow("'outbox' must be the path of a folder");
  });

  it('after the end of the run has no effect, and one warning says so', async () => {
    let late: TaskContext | undefined;
    const { logs, job, ...parts } = await ran((_, context) => {
      late = context;
    });
    for (let line = 0; line < 3; line += 1) late!.output('too late');
    await late!.emit('too.late', 1, { critical: true });
    expect(logs.warnings().filter((line) => line.includes('after its run had ended'))).toHaveLength(1);
    expect(await entriesOf({ ...parts, logs }, job.id)).toEqual([]);
  });
});

describe('what a server refuses', () => {
  it('an entry that is too large is replaced in its place, and the others are kept', async () => {
    const parts = bench();
    const large = 'x'.repeat(70_000);
    const refuses = (call: AppendCall) =>
      call.entries.some(({ data }) => data === large)
        ? Promise.reject(new WaybillError('payload_too_large', 'An entry may have 65536 bytes.'))
        : undefined;
    const { jobs } = appending(parts, refuses);
    const busy = task('busy.one', {
      run: (_, { emit }) => {
        for (const data of ['before', large, 'after']) void emit('step.done', data);
      },
    });
    const { told, middleware } = dropsTold();
    const worker = parts.work([busy], { jobs, middleware });
    const job = await parts.add(busy);
    await parts.happened(job.id, 'job.completed');
    expect(await entriesOf(parts, job.id)).toMatchObject([
      { sequence: 1, data: 'before' },
      { sequence: 2, type: 'journal.dropped', data: { entries: 1, type: 'step.done', reason: 'payload_too_large' } },
      { sequence: 3, data: 'after' },
    ]);
    expect(worker.said).toEqual({ stored: 2, dropped: 1 });
    expect(told).toEqual({ refused: 1 });
  });

  it('lease_lost ends the run as a heartbeat would: aborted, and nothing is settled', async () => {
    const parts = bench();
    const aborted = gate<unknown>();
    const busy = task('busy.one', {
      run: async (_, { output, signal }) => {
        await parts.waybill.jobs.cancel(job.id);
        signal.addEventListener('abort', () => aborted.open(signal.reason));
        output('too late');
        await aborted.opened;
      },
    });
    const { jobs } = appending(parts, () => undefined);
    const job = await parts.add(busy);
    parts.work([busy], { jobs });
    await parts.happened(job.id, 'job.cancelled');
    // Long before the next heartbeat.
    expect(await passing(parts, BATCH_MS, aborted.opened, 1_000)).toMatchObject({ code: 'lease_lost' });
    expect(parts.settled).toEqual([]);
  });

  it('a store without a journal: log lines are only logged, and the rest warns once', async () => {
    const parts = bench();
    const { calls, jobs } = appending(parts, () => Promise.reject(new WaybillError('unsupported', 'No journal here.')));
    const logging = task('logging.one', { run: (_, { log }) => log('hello') });
    const busy = task('busy.one', {
      run: (_, { output }) => {
        for (let line = 0; line < 200; line += 1) output('lost');
      },
    });
    parts.work([logging, busy], { jobs });
    await parts.happened((await parts.add(logging)).id, 'job.completed');
    expect(parts.logs.warnings()).toEqual([]);
    await parts.happened((await parts.add(busy)).id, 'job.completed');
    expect(parts.logs.warnings()).toEqual(["Entries of task 'busy.one' were not stored."]);
    // Told once that there is none, a run does not ask again.
    expect(calls).toHaveLength(2);
  });
});
