import { describe, expect, test } from 'vitest';
import type { Fault } from '../testing/faulty-store.ts';
import { RECORDING_FACTS, type RecordingSink, recordingSink, wordOf } from '../testing/recording-sink.ts';
import { type TestEngine, testEngine } from '../testing/test-engine.ts';
import { eventIdOf } from './event-id.ts';
import { type Sink, SinkRefusal } from './sink.ts';

const HOUR = 3_600_000;

const running = (made: TestEngine, ...sinks: Sink[]) => made.waybill.sinks!.run({ list: async () => sinks });
const stateOf = ({ waybill }: TestEngine, { id, tenant }: Sink) => waybill.sinks!.state({ id, tenant });
const down = () => {
  throw new Error('away');
};

test('a new sink begins at the end of the log, and gets what happens from then on, each once and in order', async () => {
  const made = testEngine();
  await made.enqueue();
  const sink = recordingSink('s', { types: ['job.enqueued', 'job.started', 'job.completed'] });
  running(made, sink);
  await made.clock.advance(1_000);
  const second = await made.enqueue();
  await made.clock.advance(1_000);
  const { job, token } = await made.claimOne();
  await made.waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'completed', result: null } });
  await made.clock.advance(2_000);
  expect(sink.got.map(wordOf)).toEqual([`job.enqueued ${second}`, `job.started ${job.id}`, `job.completed ${job.id}`]);
  expect(sink.got.every(({ id, event, attempt }) => id === eventIdOf(event) && attempt === 1)).toBe(true);
  expect(await stateOf(made, sink)).toMatchObject({ delivered: 3, status: 'active', failingSince: null });
});

test('lets through by type, queue, job type and tenant', async () => {
  const made = testEngine();
  const all = recordingSink('all');
  const mail = recordingSink('mail', { queues: ['mail'] });
  const typed = recordingSink('typed', { jobTypes: ['other.job'], types: ['job.enqueued'] });
  const foreign = recordingSink('all', {}, 'b');
  running(made, all, mail, typed, foreign);
  await made.clock.advance(1_000);
  const a = await made.enqueue({ queue: 'mail' });
  const { job } = await made.waybill.jobs.enqueue({ type: 'other.job', args: [] });
  await made.waybill.queues.pause('mail');
  const { job: b } = await made.waybill.jobs.enqueue({ type: 'x', args: [] }, { tenant: 'b' });
  await made.clock.advance(2_000);
  expect(new Set(all.got.map(wordOf))).toEqual(
    new Set([`job.enqueued ${a}`, `job.enqueued ${job.id}`, 'queue.paused mail']),
  );
  expect(mail.got.map(wordOf)).toEqual([`job.enqueued ${a}`, 'queue.paused mail']);
  expect(typed.got.map(wordOf)).toEqual([`job.enqueued ${job.id}`]);
  expect(foreign.got.map(wordOf)).toEqual([`job.enqueued ${b.id}`]);
});

test('of all tenants gets the events of all of them, and jobs with the same id in their own order', async () => {
  const made = testEngine();
  const sink: RecordingSink = { ...recordingSink('all', { types: ['job.enqueued', 'job.cancelled'] }), of: '*' };
  const got: string[] = [];
  sink.deliver = async ({ event }) => void got.push(`${event.tenant} ${event.type} ${event.sequence}`);
  running(made, sink);
  await made.clock.advance(1_000);
  const id = await made.enqueue();
  await made.waybill.jobs.enqueue({ type: 'x', id, args: [] }, { tenant: 'b' });
  await made.waybill.jobs.cancel(id, { tenant: 'b' });
  await made.clock.advance(2_000);
  expect(got.sort()).toEqual([' job.enqueued 1', 'b job.cancelled 2', 'b job.enqueued 1']);
});

test.each([
  [undefined, 8],
  [20, 20],
  [1, 1],
])('with parallel %s delivers at most %i events at the same time', async (parallel, most) => {
  const made = testEngine();
  const held = Promise.withResolvers<void>();
  const sink: RecordingSink = { ...recordingSink('s', { types: ['job.enqueued'] }), ...(parallel && { parallel }) };
  let [underWay, peak] = [0, 0];
  sink.deliver = async () => {
    underWay += 1;
    peak = Math.max(peak, underWay);
    await held.promise;
    underWay -= 1;
  };
  running(made, sink);
  await made.clock.advance(1_000);
  for (let at = 0; at < 30; at += 1) await made.enqueue();
  await made.clock.advance(1_000);
  held.resolve();
  await made.clock.advance(1_000);
  expect(peak).toBe(most);
  expect(await stateOf(made, sink)).toMatchObject({ delivered: 30 });
});

describe('a receiver that fails', () => {
  test('is down for an hour: nothing is missed, nothing is out of order, tries of an event carry one id', async () => {
    const made = testEngine();
    const sink = recordingSink();
    sink.behave = down;
    running(made, sink);
    await made.clock.advance(1_000);
    const ids: string[] = [];
    for (let minute = 0; minute < 60; minute += 1) {
      ids.push(await made.enqueue());
      await made.clock.advance(60_000);
    }
    expect(sink.got).toEqual([]);
    const tries = sink.tries.length;
    // Not hammered: about one a minute once it counts as down.
    expect(tries).toBeLessThan(250);
    expect(await stateOf(made, sink)).toMatchObject({ lastError: 'away', delivered: 0, failures: tries });
    sink.behave = () => {};
    await made.clock.advance(60_000);
    const order = (type: string) => sink.got.filter(({ event }) => event.type === type).map(({ event }) => event.jobId);
    expect(order('job.enqueued').sort()).toEqual([...ids].sort());
    for (const { id, event } of sink.tries) expect(id).toBe(eventIdOf(event));
    expect(new Set(sink.got.map(({ id }) => id)).size).toBe(sink.got.length);
    expect(await stateOf(made, sink)).toMatchObject({ failingSince: null, failures: 0, nextTryAt: null });
  });

  test('on one job holds back that job only, and its events stay in order', async () => {
    const made = testEngine();
    const sink = recordingSink('s', { types: ['job.enqueued', 'job.cancelled'] });
    const bad = await made.enqueue();
    sink.behave = ({ event }) => (event.jobId === bad ? down() : undefined);
    running(made, sink);
    await made.clock.advance(1_000);
    await made.waybill.sinks!.moveTo(sink, null);
    await made.waybill.jobs.cancel(bad);
    const good = await made.enqueue();
    await made.clock.advance(10_000);
    expect(sink.got.map(wordOf)).toEqual([`job.enqueued ${good}`]);
    expect(sink.tries.every(({ event }) => event.type === 'job.enqueued')).toBe(true);
    sink.behave = () => {};
    await made.clock.advance(20_000);
    expect(sink.got.map(wordOf).slice(1)).toEqual([`job.enqueued ${bad}`, `job.cancelled ${bad}`]);
  });

  test('is tried again later each time, with jitter, up to ten minutes', async () => {
    const made = testEngine();
    const sink = recordingSink('s', { types: ['job.enqueued'] });
    const at: number[] = [];
    sink.behave = () => {
      at.push(made.clock.monotonic());
      down();
    };
    running(made, sink);
    await made.clock.advance(1_000);
    await made.enqueue();
    await made.clock.advance(2 * HOUR);
    const gaps = at.slice(1).map((one, index) => one - at[index]!);
    gaps.slice(0, 9).forEach((gap, index) => {
      expect(gap).toBeGreaterThanOrEqual(500 * 2 ** index);
      expect(gap).toBeLessThanOrEqual(1_000 * 2 ** index);
    });
    for (const gap of gaps.slice(10)) {
      expect(gap).toBeGreaterThanOrEqual(300_000);
      expect(gap).toBeLessThanOrEqual(600_000);
    }
    expect(new Set(gaps.slice(10)).size).toBeGreaterThan(2);
  });

  test('gets the time that it asks for, whatever the event', async () => {
    const made = testEngine();
    const sink = recordingSink();
    sink.behave = () => {
      throw new SinkRefusal('busy', { retryAfterMs: 120_000 });
    };
    running(made, sink);
    await made.clock.advance(1_000);
    await made.enqueue();
    await made.clock.advance(1_000);
    expect(sink.tries).toHaveLength(1);
    sink.behave = () => {};
    await made.enqueue();
    await made.clock.advance(118_000);
    expect(sink.tries).toHaveLength(1);
    await made.clock.advance(3_000);
    expect(sink.got).toHaveLength(2);
  });

  test('for long is paused, which is told; it goes on where it was when it is resumed', async () => {
    const made = testEngine();
    const sink = recordingSink('s', { types: ['job.enqueued'] });
    sink.behave = down;
    made.waybill.sinks!.run({ list: async () => [sink] }, { pauseAfterMs: HOUR });
    await made.clock.advance(1_000);
    const id = await made.enqueue();
    await made.clock.advance(HOUR - 1_000);
    expect(await stateOf(made, sink)).toMatchObject({ status: 'active' });
    await made.clock.advance(HOUR / 5);
    expect(await stateOf(made, sink)).toMatchObject({
      status: 'paused',
      pausedReason: 'It has failed for too long: away',
    });
    const { events } = await made.waybill.events.read({ filter: { types: [RECORDING_FACTS.paused] } });
    expect(events).toMatchObject([{ subject: 's', data: { reason: 'It has failed for too long: away' } }]);
    const tries = sink.tries.length;
    await made.clock.advance(HOUR);
    expect(sink.tries).toHaveLength(tries);
    sink.behave = () => {};
    await made.waybill.sinks!.resume(sink);
    await made.clock.advance(1_000);
    expect(sink.got.map(wordOf)).toEqual([`job.enqueued ${id}`]);
  });

  test('for long is paused also while there is always something new to try', async () => {
    const made = testEngine({ maintenance: false });
    const sink = recordingSink('s', { types: ['job.enqueued'] });
    sink.behave = down;
    made.waybill.sinks!.run({ list: async () => [sink] }, { pauseAfterMs: HOUR });
    await made.clock.advance(1_000);
    for (let half = 0; half < 124; half += 1) {
      await made.enqueue();
      await made.clock.advance(30_000);
    }
    expect(await stateOf(made, sink)).toMatchObject({ status: 'paused' });
  });

  test('and wants no more is paused at once', async () => {
    const made = testEngine();
    const sink = recordingSink();
    sink.behave = () => {
      throw new SinkRefusal('gone', { isFinal: true });
    };
    running(made, sink);
    await made.clock.advance(1_000);
    await made.enqueue();
    await made.clock.advance(1_000);
    expect(await stateOf(made, sink)).toMatchObject({ status: 'paused' });
    await made.clock.advance(HOUR);
    expect(sink.tries).toHaveLength(1);
  });

  test('by not answering slows no other sink, and holds no more than a bounded number of events in memory', async () => {
    const made = testEngine();
    const [bad, good] = [recordingSink('bad'), recordingSink('good')];
    running(made, bad, good);
    await made.clock.advance(1_000);
    const first = await made.enqueue();
    let answer = () => {};
    bad.behave = ({ event }) => (event.jobId === first ? new Promise((resolve) => (answer = resolve)) : undefined);
    for (let batch = 0; batch < 13; batch += 1)
      await made.waybill.jobs.enqueueMany(Array.from({ length: 100 }, () => ({ type: 't', args: [] })));
    await made.clock.advance(5_000);
    expect(good.got).toHaveLength(1_301);
    // The first one is among the thousand.
    expect(bad.got).toHaveLength(999);
    answer();
    await made.clock.advance(60_000);
    expect(bad.got).toHaveLength(1_301);
  });
});

test('events that were pruned before they were delivered are told', async () => {
  const made = testEngine({ retention: { eventsMs: HOUR, finishedMs: HOUR } });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  running(made, sink);
  await made.clock.advance(1_000);
  await made.waybill.sinks!.pause(sink, 'asked');
  await made.enqueue();
  await made.clock.advance(3 * HOUR);
  await made.enqueue();
  await made.waybill.sinks!.resume(sink);
  await made.clock.advance(5_000);
  expect(await stateOf(made, sink)).toMatchObject({ missed: true, delivered: 1 });
  const { events } = await made.waybill.events.read({ filter: { types: [RECORDING_FACTS.missed] } });
  expect(events).toMatchObject([{ subject: 's' }]);
});

test('nothing is read and nothing waits where there are no sinks', async () => {
  const made = testEngine({ maintenance: false });
  const before = made.clock.sleepers;
  const sinks = running(made);
  await made.clock.advance(10_000);
  expect(made.clock.sleepers).toBe(before + 1);
  expect([made.store.calls('events.read'), made.store.calls('locks.take')]).toEqual([0, 0]);
  await sinks.stop();
  expect(made.clock.sleepers).toBe(before);
});

test('ends what is under way before it stops, and says so', async () => {
  const made = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  let release = () => {};
  sink.behave = () => new Promise<void>((resolve) => (release = resolve));
  const sinks = running(made, sink);
  await made.clock.advance(1_000);
  await made.enqueue();
  await made.clock.advance(1_000);
  const stopped = sinks.stop();
  release();
  await stopped;
  expect(await stateOf(made, sink)).toMatchObject({ delivered: 1 });
  expect(made.clock.sleepers).toBe(0);
});

test('a delivery that never ends, whatever the signal says, keeps neither the server from ending nor the lock', async () => {
  const made = testEngine({ maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  sink.behave = () => new Promise<void>(() => {});
  const sinks = running(made, sink);
  await made.clock.advance(1_000);
  await made.enqueue();
  await made.clock.advance(1_000);
  expect(sink.tries).toHaveLength(1);
  const ends = [sinks.stop().then(() => 'stopped'), made.clock.advance(60_000).then(() => 'still waiting')];
  expect(await Promise.race(ends)).toBe('stopped');
  const other = recordingSink('s', { types: ['job.enqueued'] });
  running(made, other);
  await made.clock.advance(1_000);
  expect(other.got).toHaveLength(1);
});

test('a server that cannot renew its lock delivers no longer than its lease, and goes on when it can', async () => {
  const faults: Fault[] = [];
  const made = testEngine({ faults, maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  running(made, sink);
  await made.clock.advance(1_000);
  for (let call = 2; call < 500; call += 1) faults.push({ method: 'locks.take', call, when: 'before' });
  await made.clock.advance(20_000);
  await made.enqueue();
  await made.clock.advance(1_000);
  expect(sink.got).toHaveLength(1);
  await made.clock.advance(15_000);
  await made.enqueue();
  await made.clock.advance(15_000);
  // Another server may have the sink by now.
  expect(sink.tries).toHaveLength(1);
  faults.length = 0;
  await made.clock.advance(60_000);
  expect(sink.got).toHaveLength(2);
});

test('what cannot be saved is saved later, and the deliveries go on', async () => {
  const faults: Fault[] = [];
  const made = testEngine({ faults, maintenance: false });
  const sink = recordingSink('s', { types: ['job.enqueued'] });
  running(made, sink);
  await made.clock.advance(1_000);
  const next = made.store.calls('records.put') + 1;
  faults.push(
    { method: 'records.put', call: next, when: 'before' },
    { method: 'records.put', call: next + 1, when: 'before' },
  );
  await made.enqueue();
  await made.clock.advance(1_500);
  await made.enqueue();
  await made.clock.advance(5_000);
  expect(sink.tries).toHaveLength(2);
  expect(await stateOf(made, sink)).toMatchObject({ delivered: 2 });
  // Saved, and the server does not know: it finds what it has written, and begins again behind it or before it.
  faults.push({ method: 'records.put', call: made.store.calls('records.put') + 1, when: 'after' });
  await made.enqueue();
  await made.clock.advance(30_000);
  await made.enqueue();
  await made.clock.advance(5_000);
  expect(new Set(sink.got.map(({ id }) => id)).size).toBe(4);
  expect(await stateOf(made, sink)).toMatchObject({ status: 'active', failingSince: null });
});
