import { expect, test } from 'vitest';
import { testEngine } from './testing/test-engine.ts';

const job = { type: 'email.send', args: [] };
const ID = '019461a8-1a2b-7c3d-8e4f-5a6b7c8d9e0f';

test.each<[string, unknown, string]>([
  ['no slot', { concurrency: 0, rate: null }, 'concurrency'],
  ['less than no slot', { concurrency: -1, rate: null }, 'concurrency'],
  ['half a slot', { concurrency: 0.5, rate: null }, 'concurrency'],
  ['no start', { concurrency: null, rate: { limit: 0, periodMs: 1_000 } }, 'rate.limit'],
  ['no period', { concurrency: null, rate: { limit: 1 } }, 'rate.periodMs'],
  ['a period of nothing', { concurrency: 1, rate: { limit: 1, periodMs: 0 } }, 'rate.periodMs'],
  ['nothing', { concurrency: null, rate: null }, 'concurrency'],
  ['another word', { concurency: 5 }, 'concurency'],
])('A22: a limit of %s is refused, by key and by queue', async (_, rule, field) => {
  const { waybill } = testEngine();
  const named = (where: string) => ({ code: 'invalid_request', details: { field: `${where}.${field}` } });
  await expect(waybill.limits.set('api', rule as never)).rejects.toMatchObject(named('rule'));
  await expect(waybill.queues.setLimit('mail', rule as never)).rejects.toMatchObject(named('limit'));
  await expect(waybill.limits.get('api')).rejects.toMatchObject({ code: 'not_found' });
  expect(await waybill.queues.list()).toEqual([]);
});

test('A22: a queue keeps all or none, and no other word is taken', async () => {
  const { waybill } = testEngine();
  for (const keep of ['some', '', undefined, 1]) {
    const refused = waybill.queues.setKeep('mail', keep as never);
    await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details: { field: 'keep' } });
  }
  expect(await waybill.queues.list()).toEqual([]);
  expect(await waybill.queues.setKeep('mail', 'none')).toMatchObject({ keep: 'none' });
});

test.each(['2030-02-31T00:00:00Z', '2030-02-29T12:00:00Z', '2030-04-31T00:00:00+02:00', '2030-01-01T24:00:00Z'])(
  'A22: %s is no time',
  async (moment) => {
    const { waybill } = testEngine();
    for (const name of ['scheduled_at', 'expires_at'] as const) {
      const refused = waybill.jobs.enqueue({ ...job, options: { [name]: moment } });
      const details = { field: `options.${name}` };
      await expect(refused).rejects.toMatchObject({ code: 'invalid_request', details });
    }
    const leap = { ...job, options: { scheduled_at: '2032-02-29T23:59:59Z' } };
    expect((await waybill.jobs.enqueue(leap)).job.scheduledAt).toBe(Date.UTC(2032, 1, 29, 23, 59, 59));
  },
);

const circular: Record<string, unknown> = {};
circular['self'] = [circular];

test.each<[string, unknown, string]>([
  ['a BigInt', { args: [{ n: 1n }] }, 'args'],
  ['a circle', { args: [circular] }, 'args'],
  ['a BigInt in meta', { meta: { n: 1n } }, 'meta'],
  ['a circle in the options', { options: { metadata: circular } }, 'options'],
  ['a BigInt beside', { x_mine: [1n] }, 'body'],
])('A22: %s is refused by name, and harms no other call', async (_, wrong, field) => {
  const { waybill } = testEngine();
  const refused = waybill.jobs.enqueue({ ...job, ...(wrong as object) });
  const other = waybill.jobs.enqueue(job);
  await expect(refused).rejects.toMatchObject({ name: 'WaybillError', code: 'invalid_payload', details: { field } });
  await expect(waybill.jobs.enqueueMany([job, { ...job, ...(wrong as object) }])).rejects.toMatchObject({
    code: 'invalid_payload',
    details: { field, index: 1 },
  });
  expect((await other).created).toBe(true);
});

test('A22: what makes itself plain, and what is nested deep, is taken', async () => {
  const { waybill } = testEngine();
  class Money {
    readonly cents = 5n;
    toJSON(): string {
      return String(this.cents);
    }
  }
  const deep = JSON.parse(`${'['.repeat(150)}${']'.repeat(150)}`) as never;
  expect((await waybill.jobs.enqueue({ ...job, args: [new Money() as never, deep] })).created).toBe(true);
});

// fault: the same id is enqueued again, and the caller did not hear the first answer
test('A22: guarantee 10: an id that is taken is refused; to repeat a call is what an idempotency key is for', async () => {
  const { waybill } = testEngine();
  const { job: first } = await waybill.jobs.enqueue({ ...job, id: ID }, { idempotencyKey: 'once' });
  const refused = waybill.jobs.enqueue({ ...job, id: ID });
  await expect(refused).rejects.toMatchObject({ code: 'duplicate', details: { existing_job_id: ID } });
  const again = await waybill.jobs.enqueue({ ...job, id: ID.replace('8e4f', '8e4e') }, { idempotencyKey: 'once' });
  expect(again).toEqual({ job: first, created: false });
});
