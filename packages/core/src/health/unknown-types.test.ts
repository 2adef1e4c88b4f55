import { expect, test } from 'vitest';
import { aJobIn } from '../testing/factories.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import { UnknownTypes } from './unknown-types.ts';

const unknown = { kind: 'snoozed', error: { code: 'unknown_type', message: 'Nobody knows it.' } } as const;

test('D10: a job that was run through another process is forgotten a minute after it was due', async () => {
  const { waybill, clock, enqueue, claimOne } = testEngine({ maintenance: false });
  const id = await enqueue();
  const { token } = await claimOne();
  await waybill.jobs.settle({ id, leaseToken: token, outcome: unknown });
  await clock.advance(64_999);
  expect((await waybill.health()).unknownTypes).toMatchObject({ jobs: 1, types: [{ reason: 'Nobody knows it.' }] });
  await clock.advance(1);
  expect(await waybill.health()).not.toHaveProperty('unknownTypes');
});

test('D10: only this reason counts', async () => {
  const { waybill, enqueue, claimOne } = testEngine();
  const id = await enqueue();
  const { token } = await claimOne();
  const outcome = { kind: 'snoozed', error: { code: 'busy', message: 'Not now.' } } as const;
  await waybill.jobs.settle({ id, leaseToken: token, outcome });
  expect(await waybill.health()).not.toHaveProperty('unknownTypes');
});

test('D10: names ten types, those with most jobs first, and keeps ten thousand jobs', () => {
  const types = new UnknownTypes(new TestClock());
  const job = aJobIn('active');
  const error = { code: 'unknown_type', message: 'No.', attempt: 1, run: job.run, occurredAt: 0 };
  const put = { ...job, state: 'retryable' as const, errors: [error] };
  for (let n = 0; n < 10_005; n += 1) types.handedBack({ ...put, id: `job-${n}`, type: `type.t${n % 20}` });
  types.handedBack({ ...put, id: 'one-more', type: 'type.t7' });
  const { jobs, types: named } = types.health()!;
  expect(jobs).toBe(10_000);
  expect(named).toHaveLength(10);
  expect(named[0]).toMatchObject({ type: 'type.t7', jobs: 501 });
});
