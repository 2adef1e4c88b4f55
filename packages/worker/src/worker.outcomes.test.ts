import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { TaskContext } from './context.ts';
import type { Middleware } from './execute/middleware.ts';
import { task } from './task.ts';
import { bench, gate } from './testing/bench.ts';

const FAR = Date.UTC(2040, 0, 1);

class SmtpError extends Error {}

/** Runs one job of a handler to its first settled outcome. */
async function outcomeOf(run: (input: unknown, context: TaskContext) => unknown) {
  const parts = bench();
  const odd = task('odd.one', { run });
  parts.work([odd]);
  const job = await parts.add(odd, { n: 1 });
  return { ...parts, job, outcome: await parts.firstOutcome };
}

describe('a handler comes to exactly one outcome', () => {
  it('what it returns is the result', async () => {
    const { outcome, happened, job } = await outcomeOf(() => ({ at: new Date(0), left: undefined }));
    expect(outcome).toEqual({ kind: 'completed', result: { at: '1970-01-01T00:00:00.000Z' } });
    expect((await happened(job.id, 'job.completed')).result).toEqual({ at: '1970-01-01T00:00:00.000Z' });
  });

  it('where there are no transactions to share, completing in one fails the run and says why', async () => {
    const within = { query: async () => ({ rows: [] }) };
    const { outcome } = await outcomeOf((_, context) => context.complete('done', { within }));
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'unsupported' } });
  });

  it('nothing is null', async () => {
    expect((await outcomeOf(() => undefined)).outcome).toEqual({ kind: 'completed', result: null });
  });

  it('what it throws is a failure with class, message and a bounded stack', async () => {
    const { outcome, logs } = await outcomeOf(() => {
      throw new SmtpError('x'.repeat(10_000), { cause: new Error('refused') });
    });
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'handler_error', type: 'SmtpError' } });
    if (outcome.kind !== 'failed') throw new Error('unreachable');
    expect(outcome.error.message).toHaveLength(2_000);
    const details = outcome.error.details as { stack: string; cause: string };
    expect(details.stack.length).toBeLessThanOrEqual(4_000);
    expect(details.cause).toBe('Error: refused');
    // The log tells of a failure when its settling was answered, which is a moment after the outcome was known.
    expect((await logs.said('failed on attempt')).message).toMatch(
      /^Job \S{36} odd\.one failed on attempt 1 of 3: x+… It/,
    );
  });

  it('an error keeps its code, by which a retry policy can know it', async () => {
    const { outcome } = await outcomeOf(() => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNREFUSED' })));
    expect(outcome).toMatchObject({ error: { code: 'ECONNREFUSED', type: 'Error' } });
  });

  it.each([
    ['a text', 'no luck', 'string: no luck'],
    ['nothing', undefined, 'undefined: undefined'],
    ['null', null, 'null: null'],
    ['an object', { a: 1 }, 'object: {"a":1}'],
    ['an object that cannot be shown', { a: 1n }, 'cannot be read'],
  ])('throwing %s is a failure too', async (_, thrown, message) => {
    const { outcome, logs } = await outcomeOf(() => {
      throw thrown;
    });
    expect(outcome).toMatchObject({ kind: 'failed', error: { message: expect.stringContaining(message) } });
    expect(logs.warnings()).toContain("Task 'odd.one' threw no Error.");
  });

  // fault: the handler throws a Proxy that was revoked, which throws at every question
  it('A22: throwing a revoked Proxy fails the run and frees its slot', async () => {
    const { work, add, happened } = bench();
    const odd = task('odd.one', {
      retry: { max_attempts: 1 },
      run: () => {
        const { proxy, revoke } = Proxy.revocable(new Error('no'), {});
        revoke();
        throw proxy;
      },
    });
    const plain = task('plain.one', { run: () => 1 });
    work([odd, plain], { concurrency: 1 });
    const failed = await happened((await add(odd)).id, 'job.discarded');
    expect(failed.errors[0]).toMatchObject({ message: expect.stringContaining('cannot be read') });
    expect(await happened((await add(plain)).id, 'job.completed')).toMatchObject({ result: 1 });
  });

  it.each([
    ['a BigInt', { big: 1n }, "'big' is a BigInt"],
    ['a Map', new Map(), 'it is a Map'],
    ['NaN', { rate: Number.NaN }, "'rate' is NaN"],
    ['a function', () => 1, 'it is a function'],
  ])('returning %s fails, and says why', async (_, value, problem) => {
    const { outcome, logs } = await outcomeOf(() => value);
    const message = `What task 'odd.one' returned is not JSON: ${problem}.`;
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'invalid_result', message, retryable: false } });
    expect(logs.warnings()).toContain(message);
  });

  it('returning what refers to itself or is nested without end fails', async () => {
    const circle: Record<string, unknown> = {};
    circle['self'] = circle;
    expect((await outcomeOf(() => circle)).outcome).toMatchObject({
      error: { message: expect.stringContaining('refers to itself') },
    });
    let deep: unknown = 1;
    for (let level = 0; level < 100_000; level += 1) deep = [deep];
    expect((await outcomeOf(() => deep)).outcome).toMatchObject({
      error: { message: expect.stringContaining('nested') },
    });
  });

  it('returning 10 MB fails', async () => {
    const { outcome } = await outcomeOf(() => 'x'.repeat(10_000_000));
    expect(outcome).toMatchObject({ kind: 'failed', error: { code: 'payload_too_large', retryable: false } });
  });

  it('may snooze, by the time of the server, and the attempt does not count', async () => {
    const { outcome, clock, job, happened } = await outcomeOf((_, context) => context.snooze(60_000));
    expect(outcome).toEqual({ kind: 'snoozed', until: clock.now() + 60_000 });
    expect(await happened(job.id, 'job.snoozed')).toMatchObject({ state: 'retryable', attempt: 0 });
    expect((await outcomeOf((_, context) => context.snooze(new Date(FAR)))).outcome).toEqual({
      kind: 'snoozed',
      until: FAR,
    });
  });

  it('may discard or cancel', async () => {
    const discarded = await outcomeOf((_, context) => context.discard('no such user'));
    expect(discarded.outcome).toMatchObject({ kind: 'discarded', error: { message: 'no such user' } });
    const cancelled = await outcomeOf((_, context) => context.cancel('not wanted'));
    expect(cancelled.outcome).toEqual({ kind: 'cancelled', reason: 'not wanted' });
    expect(cancelled.logs.warnings()).toEqual([]);
  });

  it('a catch on the way does not undo what it asked for', async () => {
    const wrapped = await outcomeOf((_, context) => {
      try {
        context.snooze(10);
      } catch (error) {
        throw new Error('wrapped', { cause: error });
      }
    });
    expect(wrapped.outcome.kind).toBe('snoozed');
    const swallowed = await outcomeOf((_, context) => {
      try {
        context.discard('enough');
      } catch {}
      return 1;
    });
    expect(swallowed.outcome.kind).toBe('discarded');
    expect(swallowed.logs.warnings()).toContain("Task 'odd.one' went on after it had asked for another outcome.");
  });

  it('snoozing by something that is no time fails the run', async () => {
    const { outcome } = await outcomeOf((_, context) => context.snooze(Number.NaN));
    expect(outcome).toMatchObject({ kind: 'failed', error: { type: 'TypeError' } });
  });
});

describe('a context that outlives its run', () => {
  it('has no effect, throws nothing that nobody catches, and is told of', async () => {
    let kept: TaskContext | undefined;
    const { logs, settled } = await outcomeOf((_, context) => {
      kept = context;
    });
    kept!.progress(0.5);
    kept!.log('still here');
    kept!.snooze(1);
    expect(settled).toHaveLength(1);
    expect(logs.warnings()).toEqual(
      ['progress', 'log', 'snooze'].map(
        (method) => `Task 'odd.one' called context.${method}() after its run had ended; it has no effect.`,
      ),
    );
  });
});

describe('progress and log', () => {
  it('reach the hooks of the worker, and a hook that throws harms nobody', async () => {
    const told: unknown[] = [];
    const { work, add, happened, logs } = bench();
    const busy = task('busy.one', {
      run: (_, context) => {
        context.progress(0.25, 'a quarter');
        context.progress(7);
        context.log('hello', { user: 1 });
      },
    });
    work([busy], {
      onProgress: ({ fraction, message }) => told.push([fraction, message]),
      onLog: ({ message }) => {
        throw new Error(message);
      },
    });
    const job = await add(busy);
    await happened(job.id, 'job.completed');
    expect(told).toEqual([
      [0.25, 'a quarter'],
      [1, undefined],
    ]);
    expect((await logs.said('hello')).fields).toMatchObject({ user: 1, task: 'busy.one', job: job.id });
    expect(logs.warnings()).toEqual(['A hook of the worker threw.']);
  });
});

describe('the payload', () => {
  const email = task('email.send', {
    input: z.object({ to: z.email(), tags: z.array(z.string()).default([]), at: z.coerce.date() }),
    run: ({ to, tags, at }) => `${to} ${tags.length} ${at.getTime()}`,
  });

  it('reaches the handler as its schema makes it', async () => {
    const { work, add, happened } = bench();
    work([email]);
    const job = await add(email, { to: 'ada@example.com', at: new Date(7) });
    expect(job.spec.args).toEqual([{ to: 'ada@example.com', at: '1970-01-01T00:00:00.007Z' }]);
    expect((await happened(job.id, 'job.completed')).result).toBe('ada@example.com 0 7');
  });

  it('that breaks its schema at the run is dead at once, and the path is named', async () => {
    const { work, waybill, happened } = bench();
    work([email]);
    const request = { type: 'email.send', args: [{ to: 'ada@example.com', tags: ['a', 5], at: 'soon' }] };
    const { job } = await waybill.jobs.enqueue(request);
    const dead = await happened(job.id, 'job.discarded');
    expect(dead).toMatchObject({ state: 'discarded', dead: true, attempt: 1 });
    expect(dead.errors[0]).toMatchObject({
      code: 'invalid_payload',
      message: expect.stringContaining("'input.tags[1]'"),
      details: { issues: [{ path: 'input.tags[1]' }, { path: 'input.at' }] },
    });
  });

  it('of a foreign producer with several arguments arrives as a list', async () => {
    const { work, waybill, happened } = bench();
    work([task('sum.all', { run: (input: number[]) => input.reduce((sum, one) => sum + one, 0) })]);
    const { job } = await waybill.jobs.enqueue({ type: 'sum.all', args: [1, 2, 3] });
    expect((await happened(job.id, 'job.completed')).result).toBe(6);
  });

  it('whose schema itself throws fails the run', async () => {
    const { work, add, happened, waybill } = bench();
    const broken = task('broken.schema', {
      input: { '~standard': { version: 1, vendor: 'test', validate: () => Promise.reject(new RangeError('bug')) } },
      run: () => 1,
    });
    work([broken]);
    await expect(add(broken, 1)).rejects.toThrow('bug');
    const { job } = await waybill.jobs.enqueue({ type: 'broken.schema', args: [1] });
    expect((await happened(job.id, 'job.failed')).errors[0]).toMatchObject({ type: 'RangeError' });
  });
});

describe('a job of a task that this worker does not have', () => {
  it('waits five seconds for another worker, without losing an attempt, and a warning names it', async () => {
    const { work, waybill, happened, logs, clock } = bench();
    work([task('other.task', { run: () => 1 })]);
    const { job } = await waybill.jobs.enqueue({ type: 'new.task', args: [] });
    expect(await happened(job.id, 'job.snoozed')).toMatchObject({ attempt: 0, scheduledAt: clock.now() + 5_000 });
    expect(logs.warnings()).toEqual([
      "Worker worker-1 has no task 'new.task'. Its jobs wait for a worker that has it, for 5 s at first and up to an hour. See: waybill doctor",
    ]);
  });
});

describe('middleware', () => {
  it('wraps the handler, the first one outermost', async () => {
    const order: string[] = [];
    const { work, add, happened } = bench();
    const plain = task('plain.one', { run: () => order.push('handler') });
    work([plain], {
      middleware: [
        async ({ task: { name } }, next) => {
          order.push(`${name} in`);
          const value = await next();
          order.push('out');
          return value;
        },
        (_, next) => {
          order.push('inner');
          return next();
        },
      ],
    });
    await happened((await add(plain)).id, 'job.completed');
    expect(order).toEqual(['plain.one in', 'inner', 'handler', 'out']);
  });

  it('may wrap the settle too, of every run that has ended, with the lease that the handler had', async () => {
    const told: string[] = [];
    const { work, add, happened, waybill } = bench();
    const plain = task('plain.one', { run: () => 'done' });
    const leases: unknown[] = [];
    const middleware: Middleware = async ({ lease }, next) => {
      leases.push(lease);
      return next();
    };
    middleware.attach = ({ running, slots }) => told.push(`attached ${running} of ${slots}`);
    middleware.settle = async ({ lease, outcome }, next) => {
      told.push(`settles ${lease.job.type} ${outcome?.kind}`);
      leases.push(lease);
      const settled = await next();
      told.push(`settled ${lease.job.type}`);
      return settled;
    };
    const inner: Middleware = (_, next) => next();
    inner.settle = (_, next) => {
      told.push('inner');
      return next();
    };
    work([plain], { middleware: [middleware, inner], concurrency: 3 });
    await happened((await add(plain)).id, 'job.completed');
    const { job } = await waybill.jobs.enqueue({ type: 'no.such', args: [] });
    await happened(job.id, 'job.snoozed');
    expect(told.slice(0, 4)).toEqual(['attached 0 of 3', 'settles plain.one completed', 'inner', 'settled plain.one']);
    expect(told).toContain('settles no.such snoozed');
    expect(leases[0]).toBe(leases[1]);
  });
});

describe('a timeout', () => {
  it('aborts the handler, fails the run and frees its place, though the handler never returns', async () => {
    const { work, add, happened, clock, logs } = bench();
    let reason: unknown;
    const stuck = task('stuck.one', {
      timeout: 1_000,
      run: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
          });
        }),
    });
    const quick = task('quick.one', { run: () => 'done' });
    work([stuck, quick], { concurrency: 1, prefetch: 0 });
    const job = await add(stuck);
    await happened(job.id, 'job.started');
    const next = await add(quick);
    await clock.advance(1_000);
    expect((await happened(job.id, 'job.failed')).errors[0]).toMatchObject({ code: 'timeout' });
    expect(reason).toMatchObject({ code: 'timeout', message: "Task 'stuck.one' exceeded its timeout of 1000 ms." });
    expect((await happened(next.id, 'job.completed')).result).toBe('done');
    await clock.advance(1_000);
    expect(logs.warnings()).toContain(
      "Task 'stuck.one' goes on although its run is over: it does not heed context.signal.",
    );
  });

  it('of the task holds for jobs that bring none; a handler that rejects later is only a line in the log', async () => {
    const { work, waybill, happened, clock, logs } = bench();
    const held = gate();
    const late = task('late.one', {
      timeout: 500,
      run: async (_: unknown, context) => {
        await held.opened;
        context.progress(1);
        throw new Error('too late');
      },
    });
    work([late]);
    const { job } = await waybill.jobs.enqueue({ type: 'late.one', args: [] });
    await happened(job.id, 'job.started');
    await clock.advance(500);
    await happened(job.id, 'job.failed');
    await clock.advance(1_000);
    held.open();
    await logs.said('what it came to is dropped');
    expect((await waybill.jobs.get(job.id)).errors).toHaveLength(1);
    expect(logs.warnings()).toContain(
      "Task 'late.one' called context.progress() after its run had ended; it has no effect.",
    );
  });

  it('that is heeded leaves no warning', async () => {
    const { work, add, happened, clock, logs } = bench();
    const polite = task('polite.one', {
      timeout: 500,
      run: (_, { signal }) =>
        new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    });
    work([polite]);
    const job = await add(polite);
    await happened(job.id, 'job.started');
    await clock.advance(500);
    await happened(job.id, 'job.failed');
    await clock.advance(900);
    expect(logs.warnings().filter((line) => line.includes('goes on'))).toEqual([]);
  });
});
