import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { task } from '@waybill/worker';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { type TestWaybillOptions, testWaybill } from './index.ts';

const HOUR = 3_600_000;

const greet = task('greet.one', {
  input: z.object({ name: z.string() }),
  run: ({ name }) => ({ greeting: `hello ${name}`, at: new Date(0) }),
});
let failuresLeft = 0;
const shaky = task('shaky.one', {
  retry: { max_attempts: 3, initial_interval: 'PT1H', max_interval: 'P1D', jitter: false },
  run: (_, { attempt }) => {
    if (failuresLeft-- > 0) throw new RangeError('not yet');
    return attempt;
  },
});

async function kitWith(tasks: TestWaybillOptions['tasks'], options: Omit<TestWaybillOptions, 'tasks'> = {}) {
  const kit = await testWaybill({ tasks, ...options });
  onTestFinished(() => kit.close());
  return kit;
}

describe('testWaybill', () => {
  it('shows what was enqueued, in order, and validates it', async () => {
    const kit = await kitWith([greet, shaky]);
    await kit.enqueue(greet, { name: 'ada' });
    await kit.enqueue(shaky, undefined, { delay: HOUR });
    await kit.enqueueMany(greet, [{ name: 'grace' }, { name: 'edsger' }]);
    await expect(kit.enqueue(greet, { name: 5 } as never)).rejects.toThrow("'input.name'");
    await expect(kit.enqueueMany(greet, [{ name: 'x' }, {} as never])).rejects.toThrow("'inputs[1].name'");
    expect((await kit.enqueued()).map(({ task: name }) => name)).toEqual([
      'greet.one',
      'shaky.one',
      'greet.one',
      'greet.one',
    ]);
    const greetings = await kit.enqueued(greet);
    expect(greetings.map(({ input }) => input)).toEqual([{ name: 'ada' }, { name: 'grace' }, { name: 'edsger' }]);
    expectTypeOf(greetings[0]!.input).toEqualTypeOf<{ name: string }>();
  });

  it('runs everything that is due, with what is enqueued on the way, and answers the outcomes', async () => {
    const first = task('first.one', {
      run: async () => {
        await kit.enqueue(greet, { name: 'ada' });
      },
    });
    const kit = await kitWith([first, greet]);
    await kit.enqueue(first);
    await kit.enqueue(greet, { name: 'later' }, { delay: HOUR });
    expect(await kit.drain()).toMatchObject([
      { task: 'first.one', outcome: { kind: 'completed', result: null }, job: { state: 'completed' } },
      { task: 'greet.one', outcome: { kind: 'completed', result: { greeting: 'hello ada' } } },
    ]);
    expect(await kit.drain()).toEqual([]);
  });

  it('lets hours pass in no time: schedules and retries fall due, each at its time', async () => {
    const kit = await kitWith([shaky, greet], { now: new Date('2031-05-05T00:00:00Z') });
    failuresLeft = 2;
    await kit.enqueue(shaky);
    await kit.enqueue(greet, { name: 'ada' }, { delay: new Date('2031-05-05T02:00:00Z') });
    expect(await kit.drain()).toMatchObject([
      { outcome: { kind: 'failed', error: { type: 'RangeError' } }, job: { state: 'retryable' } },
    ]);
    await kit.advance(HOUR - 1);
    expect(await kit.drain()).toEqual([]);
    await kit.advance(1);
    expect(kit.now()).toEqual(new Date('2031-05-05T01:00:00Z'));
    expect(await kit.drain()).toMatchObject([{ task: 'shaky.one', outcome: { kind: 'failed' } }]);
    await kit.advance(24 * HOUR);
    expect((await kit.drain()).map(({ task: name, outcome }) => [name, outcome])).toEqual([
      ['greet.one', { kind: 'completed', result: { greeting: 'hello ada', at: '1970-01-01T00:00:00.000Z' } }],
      ['shaky.one', { kind: 'completed', result: 3 }],
    ]);
  });

  it('runs one handler inline: its result, its own error, or what else it came to', async () => {
    const picky = task('picky.one', {
      unique: { keys: ['type'] },
      run: (input: 'throw' | 'snooze' | 'discard', context) => {
        if (input === 'throw') throw new RangeError('mine');
        if (input === 'snooze') context.snooze(5);
        context.discard('no use');
      },
    });
    const kit = await kitWith([]);
    const result = await kit.runInline(greet, { name: 'ada' });
    expectTypeOf(result).toEqualTypeOf<{ greeting: string; at: string }>();
    expect(result).toEqual({ greeting: 'hello ada', at: '1970-01-01T00:00:00.000Z' });
    await expect(kit.runInline(picky, 'throw')).rejects.toThrow(new RangeError('mine'));
    await expect(kit.runInline(picky, 'snooze')).rejects.toThrow("Task 'picky.one' has no result: it was snoozed.");
    await expect(kit.runInline(picky, 'discard')).rejects.toMatchObject({
      message: "Task 'picky.one' has no result: it was discarded: no use",
      details: { outcome: { kind: 'discarded' } },
    });
    await expect(kit.runInline(greet, {} as never)).rejects.toThrow("'input.name'");
    expect([await kit.enqueued(), await kit.drain()]).toEqual([[], []]);
  });

  it('shows what a run has said, inline and drained, whether or not it came to its end', async () => {
    const loud = task('loud.one', {
      retry: { max_attempts: 1 },
      outbox: '/nowhere/that/a/test/may/write',
      run: async (fails: boolean, { emit, output, log }) => {
        output('hello ');
        await emit('order.priced', { total: 7 }, { critical: true });
        log('priced', { rows: 1 });
        if (fails) throw new RangeError('mine');
      },
    });
    const kit = await kitWith([loud]);
    expect(kit.entries()).toEqual([]);
    await kit.runInline(loud, false);
    const expected = [
      { run: 1, sequence: 1, type: 'output', stream: 'stdout', output: new Uint8Array(Buffer.from('hello ')) },
      { run: 1, sequence: 2, type: 'order.priced', data: { total: 7 } },
      { run: 1, sequence: 3, type: 'log', data: { message: 'priced', fields: { rows: 1 } } },
    ];
    expect(kit.entries()).toMatchObject(expected);
    await expect(kit.runInline(loud, true)).rejects.toThrow('mine');
    expect(kit.entries()).toHaveLength(3);
    await kit.enqueue(loud, false);
    expect(await kit.drain()).toMatchObject([{ outcome: { kind: 'completed' }, entries: expected }]);
  });

  it('snoozes by its own time', async () => {
    let runs = 0;
    const patient = task('patient.one', {
      run: (_, context) => {
        runs += 1;
        if (runs === 1) context.snooze(HOUR);
        return runs;
      },
    });
    const kit = await kitWith([patient]);
    await kit.enqueue(patient);
    expect(await kit.drain()).toMatchObject([{ outcome: { kind: 'snoozed', until: kit.now().getTime() + HOUR } }]);
    await kit.advance(HOUR);
    expect(await kit.drain()).toMatchObject([{ outcome: { kind: 'completed', result: 2 } }]);
  });

  it('times a handler out by its own time, while something else reads events', async () => {
    const stuck = task('stuck.one', { timeout: 5_000, run: () => new Promise(() => {}) });
    const kit = await kitWith([stuck]);
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    const { id } = await kit.enqueue(stuck);
    const follow = kit.waybill.events.follow({ filter: { types: ['job.started'] }, signal: stop.signal });
    const started = follow[Symbol.asyncIterator]().next();
    const drained = kit.drain();
    await started;
    await kit.advance(5_000);
    expect(await drained).toMatchObject([{ job: { id, state: 'retryable' }, outcome: { error: { code: 'timeout' } } }]);
  });

  it('A22: a handler that never ends is timed out although nobody lets time pass', async () => {
    const stuck = task('stuck.one', {
      timeout: HOUR,
      retry: { max_attempts: 1 },
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    const kit = await kitWith([stuck], { handlerMs: 20 });
    const { id } = await kit.enqueue(stuck);
    expect(await kit.drain()).toMatchObject([
      { job: { id, state: 'discarded' }, outcome: { error: { code: 'timeout' } } },
    ]);
    expect(kit.now().getTime()).toBeGreaterThanOrEqual(Date.UTC(2030, 0, 1) + HOUR);
    const inline = kit.runInline(stuck, undefined);
    await expect(inline).rejects.toMatchObject({
      details: { outcome: { kind: 'failed', error: { code: 'timeout' } } },
    });
  });

  it('A22: wait gives up after its timeout although nobody lets time pass', async () => {
    const kit = await kitWith([greet]);
    const job = await kit.enqueue(greet, { name: 'ada' });
    await expect(kit.waybill.wait(job, { timeoutMs: 20 })).rejects.toMatchObject({ code: 'timeout' });
    const waiting = kit.waybill.wait(job, { timeoutMs: HOUR });
    await kit.drain();
    expect(await waiting).toMatchObject({ greeting: 'hello ada' });
  });

  it('says when there is no end', async () => {
    const endless = task('endless.one', { run: (_, context) => context.snooze(0) });
    const kit = await kitWith([endless], { maxRuns: 20 });
    await kit.enqueue(endless);
    await expect(kit.drain()).rejects.toThrow('After 20 runs there is still work');
  });

  it('fires crons', async () => {
    const kit = await kitWith([greet]);
    await kit.waybill.crons.put({
      name: 'hourly',
      expression: '0 * * * *',
      job_template: { type: 'greet.one', args: [{ name: 'ada' }] },
    });
    for (let hour = 0; hour < 3; hour += 1) {
      await kit.advance(HOUR);
      expect(await kit.drain()).toMatchObject([{ task: 'greet.one', outcome: { kind: 'completed' } }]);
    }
  });

  it('needs no test runner', () => {
    const script = `
      import { task } from 'waybill';
      import { testWaybill } from 'waybill/testing';
      const kit = await testWaybill({ tasks: [] });
      console.log(await kit.runInline(task('plain.one', { run: (n) => n + 1 }), 1));
      await kit.close();
    `;
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const env = { ...process.env, NODE_OPTIONS: '', VITEST: '' };
    const printed = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      cwd,
      env,
      encoding: 'utf8',
    });
    expect(printed).toBe('2\n');
  });
});
