import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';

type Made = ReturnType<typeof testEngine>;

const claim = ({ waybill }: Made, count = 100) =>
  waybill.jobs.claim({ queues: ['default'], count, leaseMs: 3_600_000 });
const complete = async ({ waybill }: Made, leases: Awaited<ReturnType<typeof claim>>) => {
  const outcome = { kind: 'completed', result: null } as const;
  for (const { job, token } of leases) await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
};

// fault: none, the rule itself
test('guarantee 7: a key never has more leases than its concurrency, and settling admits the next', async () => {
  const made = testEngine();
  for (let n = 0; n < 10; n += 1) await made.enqueue({ rate_limit: { key: 'api', concurrency: 3 } });
  const other = await made.enqueue();
  const first = await claim(made);
  expect(first).toHaveLength(4);
  expect(first.at(-1)!.job.id).toBe(other);
  expect(await claim(made)).toEqual([]);
  await complete(made, first.slice(0, 2));
  expect(await claim(made)).toHaveLength(2);
  expect(await made.waybill.limits.get('api')).toMatchObject({ holders: 3, parked: 5 });
});

// fault: none, the rule itself
test('guarantee 7: a rate lets its starts in as its period slides on', async () => {
  const made = testEngine();
  for (let n = 0; n < 5; n += 1) await made.enqueue({ rate_limit: { key: 'api', rate: { limit: 2, period: 'PT1S' } } });
  await complete(made, await claim(made));
  expect(await claim(made)).toEqual([]);
  await made.clock.advance(1_200);
  const second = await claim(made);
  expect(second).toHaveLength(2);
  await complete(made, second);
  await made.clock.advance(1_200);
  expect(await claim(made)).toHaveLength(1);
});

test('a limit changes at run time, up and down', async () => {
  const made = testEngine();
  for (let n = 0; n < 6; n += 1) await made.enqueue({ rate_limit: { key: 'api', concurrency: 1 } });
  const first = await claim(made);
  expect(first).toHaveLength(1);
  await made.waybill.limits.set('api', { concurrency: 4, rate: null });
  const more = await claim(made);
  expect(more).toHaveLength(3);
  await made.waybill.limits.set('api', { concurrency: 1, rate: null });
  await complete(made, [...first, ...more].slice(0, 3));
  expect(await claim(made)).toEqual([]);
  await complete(made, more.slice(2));
  expect(await claim(made)).toHaveLength(1);
});

test('a retried job gives its slot back while it waits', async () => {
  const made = testEngine();
  const rate_limit = { key: 'api', concurrency: 1 };
  const first = await made.enqueue({ rate_limit, retry: { initial_interval: 'PT10S', jitter: false } });
  const second = await made.enqueue({ rate_limit });
  const [lease] = await claim(made);
  await made.waybill.jobs.settle({
    id: first,
    leaseToken: lease!.token,
    outcome: { kind: 'failed', error: { code: 'x', message: '' } },
  });
  const [next] = await claim(made);
  expect(next!.job.id).toBe(second);
  await made.clock.advance(10_000);
  expect(await claim(made)).toEqual([]);
  await complete(made, [next!]);
  expect((await claim(made)).map(({ job }) => job.id)).toEqual([first]);
});

// fault: the limit is set while jobs run
test('guarantee 7: a queue as a whole can be limited, also when it is already full of jobs', async () => {
  const made = testEngine();
  for (let n = 0; n < 10; n += 1) await made.enqueue();
  const first = await claim(made, 4);
  await made.waybill.queues.setLimit('default', { concurrency: 5, rate: null });
  const more = await claim(made);
  expect(more).toHaveLength(1);
  await complete(made, first);
  expect(await claim(made)).toHaveLength(4);
  await made.waybill.queues.setLimit('default', null);
  expect(await claim(made)).toHaveLength(1);
});

test('cancelling a job that holds a slot or waits for one keeps the count true', async () => {
  const made = testEngine();
  const ids = [];
  for (let n = 0; n < 4; n += 1) ids.push(await made.enqueue({ rate_limit: { key: 'api', concurrency: 1 } }));
  await made.waybill.jobs.cancel(ids[2]!);
  await made.waybill.jobs.cancel(ids[0]!);
  expect((await claim(made)).map(({ job }) => job.id)).toEqual([ids[1]]);
  expect(await made.waybill.limits.get('api')).toMatchObject({ holders: 1, parked: 1 });
});

test('a waiting claim takes the next job of a queue as soon as its rate lets it', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine();
  await waybill.queues.setLimit('default', { concurrency: null, rate: { limit: 1, periodMs: 1_000 } });
  const [first, second] = [await enqueue(), await enqueue()];
  expect((await claimOne()).job.id).toBe(first);
  const waiting = waybill.jobs.claim({ queues: ['default'], waitMs: 60_000 });
  await clock.advance(10_000);
  const [lease] = await waiting;
  expect(lease!.job).toMatchObject({ id: second, startedAt: lease!.job.createdAt + 1_100 });
});
