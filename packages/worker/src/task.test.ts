import { WaybillError } from '@waybill/core';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import type { Jsonified } from './jsonified.ts';
import { requestFor } from './request.ts';
import { type AnyTask, type Task, task } from './task.ts';
import type { TaskDefaults } from './task-defaults.ts';
import type { TaskInput, TaskResult } from './typed-task.ts';
import { Worker } from './worker.ts';

const email = task('email.send', {
  input: z.object({ to: z.email(), copies: z.number().default(1), at: z.coerce.date() }),
  queue: 'email',
  priority: 5,
  timeout: 1_500,
  retry: { max_attempts: 5 },
  limit: ({ to }) => ({ key: `to:${to.split('@')[1]}`, concurrency: 2 }),
  unique: { keys: ['args'], args_keys: ['to'] },
  run: async ({ to, copies, at }, context) => {
    expectTypeOf(to).toEqualTypeOf<string>();
    expectTypeOf(copies).toEqualTypeOf<number>();
    expectTypeOf(at).toEqualTypeOf<Date>();
    expectTypeOf(context.signal).toEqualTypeOf<AbortSignal>();
    return { sent: at, copies };
  },
});

describe('types', () => {
  it('of input and result come from schema and handler', () => {
    expectTypeOf<TaskInput<typeof email>>().toEqualTypeOf<{ to: string; copies?: number | undefined; at: unknown }>();
    expectTypeOf<TaskResult<typeof email>>().toEqualTypeOf<{ sent: Date; copies: number }>();
    expectTypeOf<Jsonified<TaskResult<typeof email>>>().toEqualTypeOf<{ sent: string; copies: number }>();
  });

  it('without a schema come from the annotation of the handler, or are undefined', () => {
    const plain = task('plain.one', { run: (input: { n: number }) => input.n > 1 });
    expectTypeOf(plain).toEqualTypeOf<Task<{ n: number }, { n: number }, boolean>>();
    const empty = task('empty.one', { run: (_, { attempt }) => attempt });
    expectTypeOf<TaskInput<typeof empty>>().toEqualTypeOf<undefined>();
    expectTypeOf<TaskResult<typeof empty>>().toEqualTypeOf<number>();
  });

  it('of any task fit a list of tasks', () => {
    const all: AnyTask[] = [email, task('empty.one', { run: () => {} })];
    expect(all).toHaveLength(2);
  });

  it('survive JSON as far as JSON goes', () => {
    expectTypeOf<Jsonified<void>>().toEqualTypeOf<null>();
    expectTypeOf<Jsonified<[Date, 'x', null]>>().toEqualTypeOf<[string, 'x', null]>();
    expectTypeOf<Jsonified<{ a?: Date; b(): void; c: 1n }>['a']>().toEqualTypeOf<string | undefined>();
  });

  it('refuse a wrong policy', () => {
    // @ts-expect-error a queue is a name
    task('a.a', { queue: 5, run: () => 1 });
    // @ts-expect-error there is nothing to run
    expect(() => task('a.a', {})).toThrow("Task 'a.a' has no 'run' function.");
    expect(() => task('Not A Name', { run: () => 1 })).toThrow("Invalid task name 'Not A Name'");
  });
});

describe('the envelope of a task', () => {
  it('carries the input as the only argument, and the policy', async () => {
    expect(await requestFor(email, { to: 'ada@example.com', at: new Date(0) })).toEqual({
      type: 'email.send',
      args: [{ to: 'ada@example.com', at: '1970-01-01T00:00:00.000Z' }],
      options: {
        queue: 'email',
        priority: 5,
        timeout_ms: 1_500,
        retry: { on_exhaustion: 'dead_letter', max_attempts: 5 },
        rate_limit: { key: 'to:example.com', concurrency: 2 },
        unique: { keys: ['args'], args_keys: ['to'] },
      },
    });
    expect(await requestFor(task('empty.one', { run: () => 1 }), undefined)).toEqual({
      type: 'empty.one',
      args: [],
      options: { retry: { on_exhaustion: 'dead_letter' } },
    });
  });

  it('lets the call say otherwise', async () => {
    const { id, meta, options } = await requestFor(
      email,
      { to: 'ada@example.com', at: 0 },
      {
        id: 'an-id',
        meta: { trace: 1 },
        queue: 'other',
        priority: -5,
        delay: 1_500,
        expires: new Date(9),
        tags: ['x'],
        pending: true,
        limit: { key: 'mine' },
        unique: { keys: ['type'] },
      },
    );
    expect({ id, meta }).toEqual({ id: 'an-id', meta: { trace: 1 } });
    expect(options).toMatchObject({
      queue: 'other',
      priority: -5,
      scheduled_at: '+PT1.5S',
      expires_at: '1970-01-01T00:00:00.009Z',
      tags: ['x'],
      pending: true,
      rate_limit: { key: 'mine' },
      unique: { keys: ['type'] },
      timeout_ms: 1_500,
    });
    const later = await requestFor(email, { to: 'ada@example.com', at: 0 }, { delay: new Date(7) });
    expect(later.options).toMatchObject({ scheduled_at: '1970-01-01T00:00:00.007Z' });
    await expect(requestFor(email, { to: 'ada@example.com', at: 0 }, { delay: -1 })).rejects.toThrow("'delay'");
  });

  it('D2: keeps a job that failed for good, unless the call, the task, its queue or the connection says otherwise', async () => {
    const retryOf = async (options: object, given: object, defaults?: TaskDefaults) => {
      const request = await requestFor(task('a.a', { ...options, run: () => 1 }), undefined, given, { defaults });
      const { retry, dead_letter_retention_ms: ms } = request.options!;
      return ms === undefined ? retry : { ...retry, ms };
    };
    const on = (action: 'discard' | 'dead_letter') => ({ on_exhaustion: action });
    expect(await retryOf({}, {})).toEqual(on('dead_letter'));
    expect(await retryOf({ retry: { on_exhaustion: undefined } }, {})).toEqual(on('dead_letter'));
    expect(await retryOf({ retry: on('discard') }, {})).toEqual(on('discard'));
    expect(await retryOf({ retry: { max_attempts: 2 } }, { retry: on('discard') })).toEqual(on('discard'));
    const ofQueue = { retry: on('dead_letter'), deadLetterMs: 2 };
    const defaults = { retry: { max_attempts: 7, ...on('discard') }, deadLetterMs: 1, queues: { q: ofQueue } };
    expect(await retryOf({}, {}, defaults)).toEqual({ max_attempts: 7, ...on('discard'), ms: 1 });
    expect(await retryOf({ queue: 'q' }, {}, defaults)).toEqual({ max_attempts: 7, ...on('dead_letter'), ms: 2 });
    expect(await retryOf({}, { queue: 'q' }, defaults)).toEqual({ max_attempts: 7, ...on('dead_letter'), ms: 2 });
    const own = { queue: 'q', retry: { max_attempts: 1 }, deadLetterMs: 3 };
    expect(await retryOf(own, {}, defaults)).toEqual({ max_attempts: 1, ...on('dead_letter'), ms: 3 });
    expect(await retryOf(own, { deadLetterMs: 4 }, defaults)).toMatchObject({ ms: 4 });
  });

  it('D5: a field of the retry policy beats the same field under another name', async () => {
    const slow = task('a.a', { retry: { initial_interval_ms: 5_000, strategy: 'linear' }, run: () => 1 });
    const defaults: TaskDefaults = { retry: { initial_interval: 'PT1S', max_interval_ms: 9_000 } };
    const other: TaskDefaults = { ...defaults, queues: { default: { retry: { backoff_strategy: 'constant' } } } };
    const kept = { on_exhaustion: 'dead_letter', max_interval_ms: 9_000 };
    for (const given of [defaults, other]) {
      const { options } = await requestFor(slow, undefined, {}, { defaults: given });
      expect(options!.retry).toEqual({ ...kept, initial_interval_ms: 5_000, strategy: 'linear' });
    }
  });

  it('is refused with the path of what is wrong', async () => {
    const refusal = requestFor(email, { to: 'nobody', copies: 'many', at: 0 });
    await expect(refusal).rejects.toBeInstanceOf(WaybillError);
    await expect(refusal).rejects.toMatchObject({
      code: 'validation_error',
      message: expect.stringMatching(/^Task 'email.send' refuses its input: 'input.to' .*; 'input.copies' /),
      details: { task: 'email.send', field: 'input.to', issues: [{ path: 'input.to' }, { path: 'input.copies' }] },
    });
  });

  it('is checked as it will arrive: what only works without the trip through JSON is refused now', async () => {
    const dated = task('dated.one', { input: z.object({ at: z.date() }), run: () => 1 });
    await expect(requestFor(dated, { at: new Date() })).rejects.toThrow("'input.at'");
    await expect(requestFor(task('any.one', { run: () => 1 }), { n: 1n })).rejects.toThrow("'n' is a BigInt");
  });

  it.each([
    ['email.send', "the text 'email.send'"],
    [undefined, 'undefined'],
    [null, 'null'],
    [{}, 'object'],
  ])('D3: %j is no task, and is refused by a name of its own', async (given, found) => {
    const refusal = { code: 'invalid_request', message: `A task is needed, and this is ${found}.` };
    await expect(requestFor(given as never, {})).rejects.toMatchObject(refusal);
    expect(() => new Worker({ jobs: {} as never, tasks: [given as never] })).toThrow(expect.objectContaining(refusal));
  });
});

it.each<[object, string]>([
  [{ timeout: '30s' }, "'timeout' must be whole milliseconds above 0, not '30s'."],
  [{ timeout: 0 }, "'timeout' must be whole milliseconds above 0, not 0."],
  [{ priority: 1_000 }, "'priority' must be an integer from -100 to 100, not 1000."],
  [{ priority: 'high' }, "'priority' must be an integer from -100 to 100, not 'high'."],
  [{ input: { to: 'string' } }, "'input' must be a Standard Schema"],
  [{ input: null }, "'input' must be a Standard Schema"],
])('L3: a task with %j is refused where it is defined', (options, why) => {
  const define = () => task('mail.send', { ...options, run: () => 1 } as never);
  expect(define).toThrow(expect.objectContaining({ code: 'invalid_request', message: expect.stringContaining(why) }));
});

it.each<[object, string]>([
  [{ delay: new Date('x') }, "'delay' must be a Date or milliseconds from 0 on, not an invalid one."],
  [{ expires: new Date('x') }, "'expires' must be a Date, not an invalid one."],
  [{ expires: Number.POSITIVE_INFINITY }, "'expires' must be a Date, not Infinity."],
])('L3: enqueue() with %j is refused by name', async (options, why) => {
  const refused = requestFor(task('mail.send', { run: () => 1 }), undefined, options);
  await expect(refused).rejects.toMatchObject({ code: 'invalid_request', message: expect.stringContaining(why) });
});
