import { expect, test } from 'vitest';
import { RECORDING_FACTS, recordingSink } from '../testing/recording-sink.ts';
import { testEngine } from '../testing/test-engine.ts';
import { eventIdOf } from './event-id.ts';

const HOUR = 3_600_000;
const JOBS = 1_500;
const request = { type: 'test.job', args: [] };

test('one event that is refused for too long is set aside and told; the others go on, and the sink is not paused', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  waybill.sinks.run({ list: async () => [sink] }, { pauseAfterMs: HOUR });
  await clock.advance(1_000);
  const { job: bad } = await waybill.jobs.enqueue(request);
  sink.behave = ({ event }) => {
    if (event.jobId === bad.id) throw new Error('400');
  };
  for (let made = 0; made < JOBS; made += 500)
    await waybill.jobs.enqueueMany(Array.from({ length: 500 }, () => request));
  await clock.advance(60_000);
  expect(new Set(sink.got.map(({ event }) => event.jobId)).size).toBe(JOBS);
  const told = async () => {
    const { events } = await waybill.events.read({ filter: { types: [RECORDING_FACTS.missed] as never } });
    return events;
  };
  await clock.advance(HOUR - 120_000);
  expect([await told(), await waybill.sinks.state(sink)]).toMatchObject([[], { failures: expect.any(Number) }]);
  await clock.advance(HOUR / 3);
  const refused = sink.tries.find(({ event }) => event.jobId === bad.id)!;
  expect(await told()).toMatchObject([{ subject: 's', data: { event_id: eventIdOf(refused.event), reason: '400' } }]);
  const state = { missed: true, failingSince: null, status: 'active', parked: [] };
  expect(await waybill.sinks.state(sink)).toMatchObject(state);
});

// fault: the server is replaced while the later events of the line are parked, and their first one is not
test('the time for which an event was refused goes on where another server takes over', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued', 'job.cancelled', 'job.replayed'] });
  const start = () => {
    const options = { pauseAfterMs: HOUR, bounds: { events: 8, bytes: 1_000_000, share: 0.2 } };
    return waybill.sinks.run({ list: async () => [sink] }, options);
  };
  const first = start();
  await clock.advance(1_000);
  const { job: bad } = await waybill.jobs.enqueue(request);
  sink.behave = ({ event }) => {
    if (event.jobId === bad.id) throw new Error('400');
  };
  for (let turn = 0; turn < 3; turn += 1) {
    await waybill.jobs.cancel(bad.id);
    await waybill.jobs.retry(bad.id);
    await waybill.jobs.enqueue(request);
  }
  await clock.advance(0.7 * HOUR);
  await first.stop();
  const [parked] = (await waybill.sinks.state(sink))!.parked;
  expect(parked).toMatchObject({ line: expect.stringContaining(bad.id), failures: expect.any(Number) });
  expect(parked!.failingMs).toBeGreaterThan(0.6 * HOUR);
  start();
  await clock.advance(0.6 * HOUR);
  const filter = { types: [RECORDING_FACTS.missed] as never };
  expect((await waybill.events.read({ filter })).events).toMatchObject([{ data: { reason: '400' } }]);
});

test('a receiver that takes nothing is down: nothing of it is set aside', async () => {
  const { waybill, clock } = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  waybill.sinks.run({ list: async () => [sink] });
  await clock.advance(1_000);
  sink.behave = () => {
    throw new Error('away');
  };
  for (let made = 0; made < JOBS; made += 500)
    await waybill.jobs.enqueueMany(Array.from({ length: 500 }, () => request));
  await clock.advance(3 * 3_600_000);
  sink.behave = () => {};
  await clock.advance(3_600_000);
  expect(new Set(sink.got.map(({ id }) => id)).size).toBe(JOBS);
});

test('a record that another server has changed is delivered the new way within seconds', async () => {
  const { waybill, store, clock } = testEngine({ maintenance: false });
  const elsewhere = testEngine({ on: store, clock, maintenance: false }).waybill;
  const key = { kind: 'webhook', id: 'w' };
  const { version } = await waybill.records.put({ ...key, value: { url: 'old' }, expected: 0 });
  const used: string[] = [];
  waybill.sinks.run({
    list: async () => {
      const record = await waybill.records.get('webhook', 'w');
      const sink = { ...recordingSink('w', { types: ['job.enqueued'] }), revision: String(record.version) };
      return [{ ...sink, deliver: async () => void used.push(record.value['url'] as string) }];
    },
  });
  await clock.advance(1_000);
  await elsewhere.records.put({ ...key, value: { url: 'new' }, expected: version });
  await clock.advance(12_000);
  await elsewhere.jobs.enqueue(request);
  await clock.advance(2_000);
  expect(used).toEqual(['new']);
});
