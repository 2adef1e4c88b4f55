import { expect, onTestFinished, test } from 'vitest';
import { scoped } from '../access/scoped.ts';
import { engine } from '../engine.ts';
import { silentLogger } from '../logger.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import { recordingSink } from '../testing/recording-sink.ts';
import { TestClock } from '../testing/test-clock.ts';
import { SinkRefusal } from './sink.ts';

function running() {
  const clock = new TestClock();
  const waybill = engine({ store: memoryStore({ clock }), logger: silentLogger, maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  onTestFinished(() => {
    sink.behave = () => {};
    return waybill.close();
  });
  return { waybill, sink, clock };
}

const job = { type: 'test.job', args: [] };

test('health names a sink that fails, since when and why, to those whose it is; the status stays', async () => {
  const { waybill, sink, clock } = running();
  expect(await waybill.health()).not.toHaveProperty('sinks');
  sink.behave = () => {
    throw new SinkRefusal('The receiver answered 500.');
  };
  waybill.sinks!.run({ list: async () => [sink] });
  await waybill.sinks!.moveTo(sink, null);
  await waybill.jobs.enqueue(job);
  const ailing = { tenant: '', id: 's', status: 'failing', since: clock.now(), reason: 'The receiver answered 500.' };
  await expect.poll(() => waybill.health()).toMatchObject({ status: 'ok', sinks: [ailing] });
  const reader = { id: 'r', tenant: '', scopes: ['read'] } as const;
  expect((await scoped(waybill, reader).health()).sinks).toEqual([ailing]);
  for (const other of [
    { ...reader, tenant: 'acme' },
    { ...reader, queues: ['mail'] },
  ])
    expect(await scoped(waybill, other).health()).not.toHaveProperty('sinks');
});

test('health names a sink that was paused, until it is resumed', async () => {
  const { waybill, sink } = running();
  sink.behave = () => {
    throw new SinkRefusal('The receiver answered 410 (gone).', { isFinal: true });
  };
  waybill.sinks!.run({ list: async () => [sink] });
  await waybill.sinks!.moveTo(sink, null);
  await waybill.jobs.enqueue(job);
  const reason = expect.stringContaining('410');
  await expect.poll(() => waybill.health()).toMatchObject({ status: 'ok', sinks: [{ status: 'paused', reason }] });
  sink.behave = () => {};
  await waybill.sinks!.resume(sink);
  await sink.whenGot(1);
  await expect.poll(() => waybill.health()).not.toHaveProperty('sinks');
});
