import { engine, silentLogger, type Waybill } from '@waybill/core';
import { memoryStore, TestClock } from '@waybill/core/testing';
import { expect, onTestFinished, test } from 'vitest';
import { Recorder } from '../testing/recorder.ts';
import { Instruments } from './instruments.ts';
import { watch } from './watch.ts';

const DEPTH = 'waybill.queue.depth';
const AGE = 'waybill.store.reading.age';
const PERIOD_MS = 10_000;

function watched({ tenants = false } = {}) {
  const recorder = new Recorder();
  const clock = new TestClock();
  const waybill = engine({ store: memoryStore({ clock }), logger: silentLogger, maintenance: false });
  const instruments = new Instruments(recorder.meterProvider.getMeter('test'), { tenants });
  onTestFinished(() => waybill.close());
  const start = (port: Waybill = waybill) => {
    const watching = watch(port, instruments, { clock });
    onTestFinished(() => watching.stop());
  };
  const enqueue = (queue: string, tenant = '') =>
    waybill.jobs.enqueue({ type: 'a.b', args: [], options: { queue } }, { tenant });
  const available = async () => {
    const found = Object.entries(await recorder.metric(DEPTH)).filter(([labels]) => labels.includes('"available"'));
    return found.reduce((sum, [, value]) => sum + value, 0);
  };
  return { recorder, clock, waybill, start, enqueue, available };
}

/** The same store, whose lists of queues hang from then on. */
function hanging(waybill: Waybill) {
  let isHung = false;
  let reads = 0;
  const list: typeof waybill.queues.list = (context) => {
    reads += 1;
    return isHung ? new Promise(() => {}) : waybill.queues.list(context);
  };
  return {
    port: { ...waybill, queues: { ...waybill.queues, list } },
    hang: (hangs: boolean) => {
      isHung = hangs;
    },
    reads: () => reads,
  };
}

// fault: the store takes a call and never answers
test('a store that hangs holds up one scrape for two seconds and no other, and the age says that figures are old', async () => {
  const { recorder, clock, waybill, start, enqueue, available } = watched();
  const { port, hang, reads } = hanging(waybill);
  await enqueue('mail');
  start(port);
  expect(await available()).toBe(1);
  expect(await recorder.metric(AGE)).toEqual({ '{}': 0 });
  hang(true);
  await clock.advance(PERIOD_MS);
  const waiting = available();
  await clock.whenSleeping();
  await clock.advance(2_000);
  expect(await waiting).toBe(1);
  // Without any waiting: nothing sleeps, and the clock stands still.
  expect(await recorder.metric(AGE)).toEqual({ '{}': 12 });
  await clock.advance(30_000);
  expect(await recorder.metric(AGE)).toEqual({ '{}': 42 });
  expect(reads()).toBe(2);
});

test('a reading that never ends is given up after a minute, and the next one counts again', async () => {
  const { recorder, clock, waybill, start, enqueue, available } = watched();
  const { port, hang } = hanging(waybill);
  hang(true);
  start(port);
  const first = recorder.metric(AGE);
  await clock.whenSleeping();
  await clock.advance(2_000);
  expect(await first).toEqual({ '{}': 2 });
  expect(await recorder.metric(DEPTH)).toEqual({});
  hang(false);
  await enqueue('mail');
  await clock.advance(58_000);
  expect(await available()).toBe(1);
  expect(await recorder.metric(AGE)).toEqual({ '{}': 0 });
});

test('after a reading that has failed the figures are those of before, and the age goes on', async () => {
  const { recorder, clock, waybill, start, enqueue, available } = watched();
  await enqueue('mail');
  let fails = false;
  const list: typeof waybill.queues.list = (context) =>
    fails ? Promise.reject(new Error('away')) : waybill.queues.list(context);
  start({ ...waybill, queues: { ...waybill.queues, list } });
  await recorder.metric(AGE);
  fails = true;
  await clock.advance(PERIOD_MS);
  expect([await available(), await recorder.metric(AGE)]).toEqual([1, { '{}': 10 }]);
});

test('a queue that is gone is told as empty, and not with its last figures', async () => {
  const { recorder, clock, waybill, start, enqueue } = watched();
  await enqueue('mail');
  let isGone = false;
  const list: typeof waybill.queues.list = async (context) => (isGone ? [] : waybill.queues.list(context));
  start({ ...waybill, queues: { ...waybill.queues, list } });
  expect((await recorder.metric(DEPTH))['{"queue":"mail","state":"available"}']).toBe(1);
  isGone = true;
  await clock.advance(PERIOD_MS);
  expect((await recorder.metric(DEPTH))['{"queue":"mail","state":"available"}']).toBe(0);
  expect(await recorder.metric('waybill.queue.oldest_age')).toEqual({ '{"queue":"mail"}': 0 });
});

test('of more queues than one reading counts, all have their turn, and a removed one is forgotten', async () => {
  const { clock, waybill, start, enqueue, available } = watched();
  for (let index = 0; index < 450; index += 1) await enqueue(`q${index}`);
  const asked: string[] = [];
  const stats: typeof waybill.queues.stats = (name, context) => {
    asked.push(name);
    return waybill.queues.stats(name, context);
  };
  let isGone = false;
  const list: typeof waybill.queues.list = async (context) =>
    (await waybill.queues.list(context)).filter(({ name }) => !isGone || name !== 'q7');
  start({ ...waybill, queues: { ...waybill.queues, stats, list } });
  const counts: number[] = [];
  for (let reading = 0; reading < 3; reading += 1) {
    counts.push(await available());
    await clock.advance(PERIOD_MS);
  }
  expect(counts).toEqual([200, 400, 450]);
  expect(new Set(asked)).toEqual(new Set((await waybill.queues.list()).map(({ name }) => name)));
  expect(asked).toHaveLength(600);
  isGone = true;
  expect(await available()).toBe(449);
});

test('of more tenants than one reading counts, all have their turn; one that cannot be read holds up no other', async () => {
  const { recorder, clock, waybill, start, enqueue, available } = watched({ tenants: true });
  for (let index = 0; index < 150; index += 1) await enqueue('mail', `t${index}`);
  const list: typeof waybill.workers.list = (context) =>
    context?.tenant === 't5' ? Promise.reject(new Error('damaged')) : waybill.workers.list(context);
  start({ ...waybill, workers: { ...waybill.workers, list } });
  const dead = async () => Object.keys(await recorder.metric('waybill.dead_letters')).length;
  const first = await available();
  await clock.advance(PERIOD_MS);
  await available();
  expect(first).toBeLessThan(101);
  // Of all 150 but the damaged one, and of the tenant without a name.
  expect([await available(), await dead()]).toEqual([149, 150]);
});
