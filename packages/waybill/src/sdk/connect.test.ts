import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { testEngine } from '@waybill/core/testing';
import { createApp, serve } from '@waybill/server';
import { task } from '@waybill/worker';
import { describe, expect, expectTypeOf, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { connect, connectionTo } from './connect.ts';
import { embedded, overHttp } from './testing/open-connection.ts';

const double = task('double.one', {
  input: z.object({ n: z.number() }),
  run: ({ n }) => ({ doubled: n * 2, at: new Date(0) }),
});
const hopeless = task('hopeless.one', {
  retry: { max_attempts: 1 },
  run: () => {
    throw new RangeError('no hope');
  },
});
const empty = task('empty.one', { run: () => {} });

describe.each([
  ['embedded', embedded],
  ['over HTTP', overHttp],
])('a connection, %s', (_, open) => {
  it('enqueues, works and waits, typed end to end', async () => {
    const waybill = await open();
    const worker = waybill.work([double, empty], { concurrency: 2 });
    const enqueued = await waybill.enqueue(double, { n: 21 });
    expect(enqueued).toMatchObject({ created: true, job: { id: enqueued.id, type: 'double.one' } });
    const result = await waybill.wait(enqueued, { timeoutMs: 20_000 });
    expectTypeOf(result).toEqualTypeOf<{ doubled: number; at: string }>();
    expect(result).toEqual({ doubled: 42, at: '1970-01-01T00:00:00.000Z' });
    expect(await waybill.wait(enqueued)).toEqual(result);
    expect(await waybill.wait(enqueued.id)).toEqual(result);
    const nothing = await waybill.wait(await waybill.enqueue(empty));
    expectTypeOf(nothing).toEqualTypeOf<null>();
    expect(nothing).toBe(null);
    await worker.stop();
  });

  it('enqueues many at once', async () => {
    const waybill = await open();
    waybill.work([double]);
    const many = await waybill.enqueueMany(double, [{ n: 1 }, { n: 2 }, { n: 3 }]);
    const results = await Promise.all(many.map((one) => waybill.wait(one)));
    expect(results.map(({ doubled }) => doubled)).toEqual([2, 4, 6]);
    expect(await waybill.enqueueMany(double, [])).toEqual([]);
  });

  it('says of each of many whether it was made or was there already', async () => {
    const waybill = await open();
    const once = task('once.one', {
      input: z.object({ n: z.number() }),
      unique: { keys: ['type', 'args'], on_conflict: 'ignore' },
      run: () => {},
    });
    const first = await waybill.enqueue(once, { n: 1 });
    const many = await waybill.enqueueMany(once, [{ n: 2 }, { n: 1 }, { n: 3 }]);
    expect(many.map(({ created }) => created)).toEqual([true, false, true]);
    expect(many[1]!.id).toBe(first.id);
    expect((await waybill.jobs.list({ limit: 10 })).items).toHaveLength(3);
  });

  it('refuses a wrong input by its path, and stores nothing', async () => {
    const waybill = await open();
    // @ts-expect-error a number is wanted
    const refusal = waybill.enqueue(double, { n: 'many' });
    await expect(refusal).rejects.toMatchObject({ code: 'validation_error', details: { field: 'input.n' } });
    // @ts-expect-error an input is wanted
    await expect(waybill.enqueue(double)).rejects.toThrow("'input'");
    await expect(waybill.enqueueMany(double, [{ n: 1 }, { n: Number.NaN }])).rejects.toThrow("'inputs[1]'");
    expect((await waybill.jobs.list({ limit: 10 })).items).toEqual([]);
  });

  it('tells why there is no result', async () => {
    const waybill = await open();
    waybill.work([hopeless]);
    await expect(waybill.wait(await waybill.enqueue(hopeless))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('(hopeless.one) has no result, it was discarded: no hope'),
      details: { state: 'discarded', error: { type: 'RangeError' } },
    });
    const cancelled = await waybill.enqueue(double, { n: 1 }, { delay: 60_000 });
    const waiting = waybill.wait(cancelled);
    await waybill.jobs.cancel(cancelled.id);
    await expect(waiting).rejects.toThrow('it was cancelled');
  });

  it('tells a running handler at once that its job was cancelled', async () => {
    const waybill = await open();
    const turns = new EventEmitter();
    const endless = task('endless.one', {
      run: (_, { signal }) =>
        new Promise((resolve) => {
          turns.emit('begun');
          signal.addEventListener('abort', () => resolve(turns.emit('aborted', signal.reason)));
        }),
    });
    // No heartbeat comes by itself before this test is over.
    waybill.work([endless], { leaseMs: 600_000, heartbeatMs: 300_000 });
    // The first one begins to be watched while it runs, the second one is watched from its start.
    for (const _ of [1, 2]) {
      const begun = once(turns, 'begun');
      const { id } = await waybill.enqueue(endless);
      await begun;
      const aborted = once(turns, 'aborted');
      await waybill.jobs.cancel(id);
      expect(await aborted).toMatchObject([{ code: 'lease_lost' }]);
    }
  });

  it('answers the first job for a repeated idempotency key', async () => {
    const waybill = await open();
    const first = await waybill.enqueue(double, { n: 1 }, { idempotencyKey: 'once' });
    const second = await waybill.enqueue(double, { n: 1 }, { idempotencyKey: 'once' });
    expect([second.id, second.created]).toEqual([first.id, false]);
  });
});

describe('a remote worker', () => {
  it('survives a restart of its server, and finishes what it held', async () => {
    const app = createApp({ waybill: await embedded(), version: 'test' });
    const first = await serve(app, { port: 0, graceMs: 100 });
    const waybill = await connect(first.url);
    let letGo = () => {};
    const held = task('held.one', {
      run: () =>
        new Promise<string>((resolve) => {
          letGo = () => resolve('held through it');
          started();
        }),
    });
    let started = () => {};
    const isStarted = new Promise<void>((resolve) => {
      started = resolve;
    });
    waybill.work([held, double]);
    const before = await waybill.enqueue(held);
    await isStarted;
    await first.close();
    letGo();
    const second = await serve(app, { port: Number(new URL(first.url).port), graceMs: 100 });
    onTestFinished(async () => {
      await waybill.close();
      await second.close();
    });
    expect(await waybill.wait(before)).toBe('held through it');
    expect(await waybill.wait(await waybill.enqueue(double, { n: 4 }))).toMatchObject({ doubled: 8 });
    expect((await waybill.jobs.get(before.id)).run).toBe(1);
  });
});

describe('waiting', () => {
  it('ends at its timeout or when its caller gives up', async () => {
    const { waybill, clock } = testEngine();
    const connection = connectionTo(waybill, { clock });
    const job = await connection.enqueue(double, { n: 1 });
    const late = expect(connection.wait(job, { timeoutMs: 5_000 })).rejects.toMatchObject({
      code: 'timeout',
      message: `Job ${job.id} has not finished within 5000 ms; it is available.`,
    });
    await clock.whenSleeping(4);
    await clock.advance(5_000);
    await late;
    const aborted = connection.wait(job, { signal: AbortSignal.abort(new Error('enough')) });
    await expect(aborted).rejects.toThrow('enough');
  });

  it('looks at the job itself when the stream of events breaks, and follows it again', async () => {
    const { waybill, clock } = testEngine();
    let streams = 0;
    const follow: typeof waybill.events.follow = (query) => {
      streams += 1;
      if (streams < 3) throw new Error('broken');
      return waybill.events.follow(query);
    };
    const connection = connectionTo({ ...waybill, events: { ...waybill.events, follow } }, { clock });
    const job = await connection.enqueue(double, { n: 1 });
    const waiting = connection.wait(job);
    while (streams < 3) {
      await clock.whenSleeping(3);
      await clock.advance(1_000);
    }
    connection.work([double], { id: 'late' });
    expect(await waiting).toMatchObject({ doubled: 2 });
    await connection.close();
  });

  it.each([
    [{ timeout: 50 }, "wait() has no option 'timeout'. Did you mean 'timeoutMs'?"],
    [{ timeoutMs: '50' }, "'timeoutMs' must be milliseconds"],
    [{ timeoutMs: -1 }, "'timeoutMs' must be milliseconds"],
  ])('refuses %o', async (options, message) => {
    const waybill = await embedded();
    const { id } = await waybill.enqueue(double, { n: 1 });
    await expect(waybill.wait(id, options as never)).rejects.toThrow(message);
    const misspelt = waybill.enqueue(double, { n: 1 }, { tenat: 'acme' } as never);
    await expect(misspelt).rejects.toThrow("enqueue() has no option 'tenat'. Did you mean 'tenant'?");
  });

  it('for a job that is not there says so', async () => {
    const waybill = await embedded();
    await expect(waybill.wait('0190b5a4-0000-7000-8000-000000000000')).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the package', () => {
  it('can be required from CommonJS', () => {
    const script = `
      const { connect, task } = require('waybill');
      const { testWaybill } = require('waybill/testing');
      const add = task('add.one', { run: (n) => n + 1 });
      (async () => {
        const waybill = await connect('sqlite::memory:');
        waybill.work([add]);
        console.log(await waybill.wait(await waybill.enqueue(add, 41)), typeof testWaybill);
        await waybill.close();
      })();
    `;
    const cwd = fileURLToPath(new URL('../..', import.meta.url));
    const args = ['--input-type=commonjs', '-e', script];
    expect(execFileSync(process.execPath, args, { cwd, encoding: 'utf8' })).toBe('42 function\n');
  });

  it('says what an address must look like', async () => {
    await expect(connect('redis://localhost')).rejects.toThrow("'redis:' is none of sqlite, postgres");
  });
});
