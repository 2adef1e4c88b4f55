import { expect, test } from 'vitest';
import { recordingSink } from '../../testing/recording-sink.ts';
import { testEngine } from '../../testing/test-engine.ts';

const MINUTE = 60_000;
const KEY = { tenant: '', id: 's' };

/** A sink that has begun, and that no server runs any more. */
async function made() {
  const engine = testEngine({ maintenance: false });
  const { waybill } = engine;
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  const running = waybill.sinks.run({ list: async () => [sink] });
  await engine.enqueue();
  await sink.whenGot(1);
  await running.stop();
  const found = async () => (await waybill.checks.run()).findings.filter(({ check }) => check === 'sink-lag');
  return { ...engine, sink, found };
}

test('over 5 minutes and over an hour behind the oldest event that it has not delivered', async () => {
  const { clock, found, enqueue } = await made();
  await clock.advance(60 * MINUTE);
  expect(await found()).toEqual([]);
  await enqueue();
  const seen: unknown[] = [];
  for (const ms of [5 * MINUTE, 1, 55 * MINUTE - 1, 1]) {
    await clock.advance(ms);
    seen.push((await found())[0]?.severity ?? null);
  }
  expect(seen).toEqual([null, 'warning', 'warning', 'critical']);
  expect((await found())[0]).toMatchObject({ subject: 'sink:s', title: "Sink 's' is 1 hour behind." });
});

test('one that fails says why', async () => {
  const { waybill, clock, sink, found, enqueue } = await made();
  sink.behave = () => {
    throw new Error('The receiver answered 500.');
  };
  waybill.sinks.run({ list: async () => [sink] });
  await enqueue();
  await clock.advance(10 * MINUTE);
  expect((await found())[0]?.title).toBe("Sink 's' is 10 minutes behind. The receiver answered 500.");
});

test('one that the server has paused is critical; one that a person has paused is not', async () => {
  const { waybill, found } = await made();
  await waybill.sinks.pause(KEY, 'It has failed for too long: The receiver answered 500.');
  expect(await found()).toMatchObject([
    {
      severity: 'critical',
      title: "Sink 's' is paused. It has failed for too long: The receiver answered 500.",
    },
  ]);
  await waybill.sinks.pause(KEY, 'It was asked for.');
  expect(await found()).toEqual([]);
});
