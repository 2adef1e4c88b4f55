import { expect, test } from 'vitest';
import { memoryBlobs } from '../testing/memory-blobs.ts';
import { recordingSink } from '../testing/recording-sink.ts';
import { testEngine } from '../testing/test-engine.ts';

const LARGE = 'y'.repeat(400_000);

/** A job has failed with a message that is kept in the blob store, which is away unless the test says otherwise. */
async function failed(blobs: ReturnType<typeof memoryBlobs>) {
  const made = testEngine({ maintenance: false, blobs: { store: blobs.store } });
  const sink = recordingSink('s', { types: ['job.failed'] });
  made.waybill.sinks.run({ list: async () => [sink] });
  await made.clock.advance(1_000);
  const id = await made.enqueue({ retry: { max_attempts: 1 } });
  const { token } = await made.claimOne();
  blobs.setAway(true);
  const error = { code: 'x', message: LARGE, retryable: false };
  await made.waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'failed', error } });
  await made.clock.advance(5_000);
  return { ...made, sink, id };
}

test('while the blob store is away an event is not sent; later it comes with its data', async () => {
  const blobs = memoryBlobs();
  const { waybill, clock, sink } = await failed(blobs);
  expect(sink.tries).toEqual([]);
  const state = { delivered: 0, lastError: expect.stringContaining('cannot be read now') };
  expect(await waybill.sinks.state(sink)).toMatchObject(state);
  const { events } = await waybill.events.read({ filter: { types: ['job.failed'] } });
  await expect(waybill.sinks.open(events[0]!)).rejects.toMatchObject({ code: 'unavailable' });
  blobs.setAway(false);
  await clock.advance(60_000);
  expect(sink.got).toHaveLength(1);
  const sent = JSON.stringify(sink.got[0]!.event.data);
  expect([sent.includes('$waybill'), sent.includes(LARGE)]).toEqual([false, true]);
});

test('of a payload that is gone the receiver is told that it is missing, not where it was', async () => {
  const blobs = memoryBlobs();
  const { clock, sink } = await failed(blobs);
  await blobs.store.deletePrefix('');
  blobs.setAway(false);
  await clock.advance(60_000);
  expect(sink.got.map(({ event }) => event.data)).toEqual([{ payload_missing: true }]);
});
