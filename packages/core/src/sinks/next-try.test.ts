import { expect, test } from 'vitest';
import { type RecordingSink, recordingSink } from '../testing/recording-sink.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';
import { SinkRefusal } from './sink.ts';

const HOUR = 3_600_000;

async function running(): Promise<TestEngine & { sink: RecordingSink; triedAt: number[] }> {
  const made = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  made.waybill.sinks.run({ list: async () => [sink] });
  await made.clock.advance(1_000);
  return { ...made, sink, triedAt: [] };
}

test('the next try of a receiver that asked for time is the one after that time, whatever failed before', async () => {
  const { waybill, clock, enqueue, sink, triedAt } = await running();
  const first = await enqueue();
  sink.behave = ({ event }) => {
    triedAt.push(clock.now());
    if (event.jobId === first) throw new Error('500');
    throw new SinkRefusal('503', { retryAfterMs: HOUR });
  };
  await clock.advance(200);
  await enqueue();
  await clock.advance(5_000);
  const tries = triedAt.length;
  const { nextTryAt } = (await waybill.sinks.state(sink))!;
  expect(nextTryAt! - clock.now()).toBeGreaterThan(HOUR - 10_000);
  await clock.advance(HOUR);
  expect(triedAt[tries]! - nextTryAt!).toBeLessThan(1_000);
  expect(triedAt[tries]).toBeGreaterThanOrEqual(nextTryAt!);
});

test('the next try of a receiver that is down is the one after its rest', async () => {
  const { waybill, clock, enqueue, sink, triedAt } = await running();
  sink.behave = () => {
    triedAt.push(clock.now());
    throw new Error('away');
  };
  for (let made = 0; made < 20; made += 1) await enqueue();
  await clock.advance(10 * 60_000);
  for (let round = 0; round < 20; round += 1) {
    // A failed try is saved within a second.
    const tries = triedAt.length;
    while (triedAt.length === tries) await clock.advance(1_000);
    await clock.advance(2_000);
    const known = triedAt.length;
    const { nextTryAt } = (await waybill.sinks.state(sink))!;
    expect(nextTryAt).toBeGreaterThan(clock.now());
    await clock.advance(nextTryAt! - clock.now() - 100);
    expect(triedAt).toHaveLength(known);
    await clock.advance(200);
    expect(triedAt).toHaveLength(known + 1);
  }
});
