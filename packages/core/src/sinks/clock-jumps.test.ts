import { describe, expect, test } from 'vitest';
import { recordingSink } from '../testing/recording-sink.ts';
import { testEngine } from '../testing/test-engine.ts';

const DAY = 86_400_000;
const away = () => {
  throw new Error('away');
};

test('a server whose clock is a day behind takes a failing sink over and tries it within ten minutes', async () => {
  const { waybill, clock, enqueue } = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  sink.behave = away;
  const run = waybill.sinks.run({ list: async () => [sink] });
  await clock.advance(1_000);
  await enqueue();
  await clock.advance(20_000);
  await run.stop();
  sink.behave = () => {};
  clock.jump(-DAY);
  waybill.sinks.run({ list: async () => [sink] });
  await clock.advance(11 * 60_000);
  expect(sink.got).toHaveLength(1);
});

test('a server whose clock is a day ahead takes a failing sink over and does not pause it', async () => {
  const { waybill, clock, enqueue } = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  sink.behave = away;
  const run = waybill.sinks.run({ list: async () => [sink] });
  await clock.advance(1_000);
  await enqueue();
  await clock.advance(20_000);
  await run.stop();
  expect(await waybill.sinks.state(sink)).toMatchObject({ failingMs: 20_000 });
  clock.jump(DAY);
  waybill.sinks.run({ list: async () => [sink] });
  await clock.advance(60_000);
  expect(await waybill.sinks.state(sink)).toMatchObject({ status: 'active' });
  sink.behave = () => {};
  await clock.advance(11 * 60_000);
  expect(sink.got).toHaveLength(1);
});

// The first failure is kept after a second: by then the sink goes on from what is kept.
describe.each([200, 2_000])('a clock jumps a day ahead %i ms after an event is there', (ms) => {
  test('a sink that has failed for seconds is not paused', async () => {
    const { waybill, clock, enqueue } = testEngine({ maintenance: false });
    const sink = recordingSink('s', { types: ['job.enqueued'] });
    sink.behave = away;
    waybill.sinks.run({ list: async () => [sink] });
    await clock.advance(1_000);
    await enqueue();
    await clock.advance(ms);
    clock.jump(DAY);
    await clock.advance(10_000);
    expect(sink.tries.length).toBeGreaterThan(2);
    sink.behave = () => {};
    await clock.advance(60_000);
    expect(sink.got).toHaveLength(1);
    expect(await waybill.sinks.state(sink)).toMatchObject({ status: 'active', failingSince: null });
  });
});
