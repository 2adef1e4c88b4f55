import { expect, test } from 'vitest';
import type { BlobStore } from '../blobs/blob-store.ts';
import { testEngine } from '../testing/test-engine.ts';

test('A10: a node whose parents’ results cannot be read is put off, and the other jobs of its claim are not', async () => {
  const kept = new Map<string, Uint8Array>();
  let isAway = false;
  const store: BlobStore = {
    put: async (key, body) => void kept.set(key, body),
    get: async (key) => (isAway ? Promise.reject(new Error('connection refused')) : (kept.get(key) ?? null)),
    deletePrefix: async () => {},
    list: async () => [],
    close: async () => {},
  };
  const { waybill, clock, claimOne } = testEngine({ blobs: { store, threshold: 1_000 } });
  const step = (name: string) => ({ type: `test.${name}`, name, args: [] });
  await waybill.workflows.create({ type: 'chain', name: 'two', steps: [step('a'), step('b')] });
  const { job, token } = await claimOne();
  const outcome = { kind: 'completed', result: 'x'.repeat(2_000) } as const;
  await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome });
  await waybill.jobs.enqueue({ type: 'test.plain', args: [] });

  isAway = true;
  const leases = await waybill.jobs.claim({ queues: ['default'], count: 10 });
  expect(leases.map((lease) => lease.job.type)).toEqual(['test.plain']);
  const { items } = await waybill.jobs.list({ filter: { types: ['test.b'] }, limit: 1 });
  expect(items[0]).toMatchObject({ state: 'retryable', outcome: 'snoozed', attempt: 0 });

  isAway = false;
  await clock.advance(11_000);
  expect(await claimOne()).toMatchObject({ job: { type: 'test.b' }, parentResults: [outcome.result] });
});
