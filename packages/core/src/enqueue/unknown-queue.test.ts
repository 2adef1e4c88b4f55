import { expect, test } from 'vitest';
import { invalidField } from '../errors.ts';
import { memoryTransport } from '../testing/memory-transport.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { Waybill } from '../waybill.ts';

const job = (queue: string) => ({ type: 'test.job', args: [], options: { queue } });

function opened() {
  const clock = new TestClock();
  const checked: string[] = [];
  const checkQueue = (tenant: string, queue: string) => {
    checked.push(`${tenant}/${queue}`);
    return queue === 'known' ? undefined : Promise.reject(invalidField('queue', 'is not configured.'));
  };
  return { ...testEngine({ clock, transport: { ...memoryTransport({ clock }), checkQueue } }), checked };
}

test.each<[string, (waybill: Waybill) => Promise<unknown>]>([
  ['a job', ({ jobs }) => jobs.enqueue(job('other'))],
  ['a batch', ({ jobs }) => jobs.enqueueMany([job('known'), job('other')])],
  ['a workflow', ({ workflows }) => workflows.create({ type: 'chain', steps: [job('known'), job('other')] })],
  ['a cron', ({ crons }) => crons.put({ name: 'nightly', expression: '0 0 * * *', job_template: job('other') })],
])('%s for a queue that the transport refuses is refused, and nothing is stored', async (_, make) => {
  const { waybill } = opened();
  await expect(make(waybill)).rejects.toMatchObject({ code: 'invalid_request', details: { field: 'queue' } });
  expect((await waybill.jobs.list()).items).toEqual([]);
  expect(await waybill.crons.list()).toEqual([]);
});

test('each queue of a batch is checked once, for the tenant of the call', async () => {
  const { waybill, checked } = opened();
  await waybill.jobs.enqueueMany([job('known'), job('known')], { tenant: 'acme' });
  expect(checked).toEqual(['acme/known']);
});
