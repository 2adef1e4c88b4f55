import { expect, test } from 'vitest';
import type { TestEngine } from '../testing/test-engine.ts';
import { testEngine } from '../testing/test-engine.ts';

/** Enqueues jobs that fail for good. */
async function bury(
  { waybill }: TestEngine,
  count: number,
  { queue = 'default', code = 'boom' } = {},
): Promise<string[]> {
  const retry = { max_attempts: 1, on_exhaustion: 'dead_letter' as const };
  const jobs = await waybill.jobs.enqueueMany(Array(count).fill({ type: 'a.b', args: [], options: { queue, retry } }));
  const leases = await waybill.jobs.claim({ queues: [queue], count });
  await Promise.all(
    leases.map(({ job, token }) =>
      waybill.jobs.settle({
        id: job.id,
        leaseToken: token,
        outcome: { kind: 'failed', error: { code, message: 'no' } },
      }),
    ),
  );
  return jobs.map(({ id }) => id);
}

test('lists what was given up and kept, newest first, and nothing else', async () => {
  const made = testEngine();
  const ids = await bury(made, 3);
  await made.enqueue();
  const { items } = await made.waybill.deadLetters.list({ limit: 10 });
  expect(new Set(items.map(({ id }) => id))).toEqual(new Set(ids));
  expect(await made.waybill.deadLetters.stats()).toEqual({ total: 3, exact: true });
});

// fault: none, the rule itself
test('guarantee 4: a replayed job starts over, keeps its history and ends a second time', async () => {
  const made = testEngine();
  const [id] = await bury(made, 1);
  expect(await made.waybill.deadLetters.replay(id!)).toMatchObject({
    state: 'available',
    attempt: 0,
    run: 1,
    errors: { length: 1 },
  });
  const { token, job } = await made.claimOne();
  expect(job).toMatchObject({ id, attempt: 1, run: 2 });
  await made.waybill.jobs.settle({ id: id!, leaseToken: token, outcome: { kind: 'completed', result: null } });
  const { events } = await made.waybill.events.read({ limit: 100 });
  expect(events.map(({ type }) => type)).toEqual([
    ...['job.enqueued', 'job.started', 'job.failed', 'job.discarded'],
    ...['job.replayed', 'job.enqueued', 'job.started', 'job.completed'],
  ]);
  await expect(made.waybill.deadLetters.replay(id!)).rejects.toMatchObject({ code: 'not_found' });
});

test('many are replayed by filter, in slices', async () => {
  const made = testEngine();
  await bury(made, 700, { code: 'boom' });
  const spared = await bury(made, 5, { code: 'other' });
  expect(await made.waybill.deadLetters.replayMany({ errorType: 'boom' }, { atMost: 600 })).toMatchObject({
    replayed: 600,
    more: true,
  });
  expect(await made.waybill.deadLetters.replayMany({ errorType: 'boom' })).toEqual({ replayed: 100, more: false });
  const { items } = await made.waybill.deadLetters.list({ limit: 10 });
  expect(new Set(items.map(({ id }) => id))).toEqual(new Set(spared));
});

// fault: another job has taken over the unique key of one of the letters
test('A11: many are replayed although one has lost its unique key, which is named', async () => {
  const made = testEngine();
  const { waybill } = made;
  const unique = { unique: {}, retry: { max_attempts: 1, on_exhaustion: 'dead_letter' as const } };
  const lost = await made.enqueue(unique);
  const { token } = await made.claimOne();
  const outcome = { kind: 'failed', error: { code: 'boom', message: 'no' } } as const;
  await waybill.jobs.settle({ id: lost, leaseToken: token, outcome });
  const successor = await made.enqueue({ ...unique, queue: 'later' });
  const others = await bury(made, 3);
  const skipped = {
    total: 1,
    items: [{ id: lost, code: 'duplicate', message: expect.stringContaining(`unique key of job ${lost}`) }],
  };
  expect(await waybill.deadLetters.replayMany({})).toEqual({ replayed: 3, more: false, skipped });
  for (const id of others) expect(await waybill.jobs.get(id)).toMatchObject({ state: 'available' });
  expect(await waybill.jobs.get(lost)).toMatchObject({ state: 'discarded', dead: true });
  expect(await waybill.deadLetters.replayMany({}, { atMost: 5 })).toEqual({ replayed: 0, more: false, skipped });
  await waybill.jobs.cancel(successor);
  expect(await waybill.deadLetters.discardMany({})).toEqual({ discarded: 1, more: false });
});

test('a discarded letter leaves the set; its row stays until retention removes it', async () => {
  const made = testEngine();
  const [id, ...others] = await bury(made, 4);
  await made.waybill.deadLetters.discard(id!);
  await expect(made.waybill.deadLetters.get(id!)).rejects.toMatchObject({ code: 'not_found' });
  expect(await made.waybill.jobs.get(id!)).toMatchObject({ state: 'discarded', dead: false });
  expect(await made.waybill.deadLetters.discardMany({})).toEqual({ discarded: others.length, more: false });
});

test('an expired job is no dead letter', async () => {
  const made = testEngine();
  const id = await made.enqueue({ expires_at: '+PT1S', retry: { on_exhaustion: 'dead_letter' } });
  await made.clock.advance(1_000);
  await expect(made.waybill.deadLetters.replay(id)).rejects.toMatchObject({ code: 'not_found' });
});
