import { expect, it } from 'vitest';
import { task } from './task.ts';
import { bench } from './testing/bench.ts';

it('a log line has the level of its call at the logger and at the hook of the worker', async () => {
  const told: unknown[] = [];
  const { work, add, happened, logs } = bench();
  const busy = task('busy.one', {
    run: (_, context) => {
      context.log('plain');
      for (const level of ['debug', 'info', 'warn', 'error'] as const) context.log(`on ${level}`, {}, { level });
    },
  });
  work([busy], { onLog: ({ level, message }) => told.push([level, message]) });
  const job = await add(busy);
  await happened(job.id, 'job.completed');
  expect(told).toEqual([
    ...[
      ['info', 'plain'],
      ['debug', 'on debug'],
      ['info', 'on info'],
      ['warn', 'on warn'],
      ['error', 'on error'],
    ],
  ]);
  expect(logs.warnings()).toContain('on warn');
});

it.each([
  [{ levl: 'warn' }, "context.log() has no option 'levl'. Did you mean 'level'?"],
  [
    { level: 'wran' },
    "The level of context.log() must be debug, info, warn or error, not 'wran'. Did you mean 'warn'?",
  ],
])('a mistake in the options of log fails the run: %j', async (options, message) => {
  const { work, add, firstOutcome } = bench();
  const odd = task('odd.one', { run: (_, context) => context.log('x', {}, options as never) });
  work([odd]);
  await add(odd);
  expect(await firstOutcome).toMatchObject({ kind: 'failed', error: { message } });
});
