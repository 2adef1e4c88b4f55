import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EventQuery } from '../store/event-log.ts';
import { memoryStore } from '../store/memory/memory-store.ts';
import type { Store } from '../store/store.ts';
import { memoryBlobs } from '../testing/memory-blobs.ts';
import { propertyRuns } from '../testing/property-runs.ts';
import { TestClock } from '../testing/test-clock.ts';
import { testEngine } from '../testing/test-engine.ts';
import type { FollowQuery, Waybill } from '../waybill.ts';
import type { LoggedEvent } from './job-event.ts';

/** A follower that takes whatever comes, until the test ends it. */
function follower({ events }: Waybill, query: Omit<FollowQuery, 'signal'> = {}) {
  const stop = new AbortController();
  const taken: LoggedEvent[] = [];
  const ended = (async () => {
    for await (const event of events.follow({ ...query, signal: stop.signal })) taken.push(event);
  })();
  const ids = () => taken.map(({ jobId }) => jobId);
  const end = async () => {
    stop.abort();
    await ended;
  };
  return { taken, ids, end, ended };
}

/** Sees what is asked of the log. */
function watched(clock: TestClock): { store: Store; reads: EventQuery[] } {
  const store = memoryStore({ clock });
  const reads: EventQuery[] = [];
  const read = (query: EventQuery) => {
    reads.push(query);
    return store.events.read(query);
  };
  return { store: { ...store, events: { ...store.events, read } }, reads };
}

/** Reads of the tailer, not of a follower's own history. */
const looks = (reads: readonly EventQuery[]): EventQuery[] => reads.filter(({ until }) => until === undefined);

const atRest = async (): Promise<void> => {
  for (let count = 0; count < 20; count += 1) await turn();
};

describe('A12: one tailer per process', () => {
  test('asks the store as often for a hundred followers as for one', async () => {
    const asked = async (count: number): Promise<number> => {
      const clock = new TestClock();
      const { store, reads } = watched(clock);
      const { waybill, enqueue } = testEngine({ on: store, clock });
      const followers = Array.from({ length: count }, () => follower(waybill));
      await atRest();
      reads.length = 0;
      for (let job = 0; job < 10; job += 1) {
        await enqueue();
        await atRest();
      }
      for (const one of followers) expect(one.taken).toHaveLength(10);
      await Promise.all(followers.map((one) => one.end()));
      return reads.length;
    };
    expect(await asked(100)).toBe(await asked(1));
  });

  test('reads nothing and wakes nobody when the last follower has left', async () => {
    const clock = new TestClock();
    const { store, reads } = watched(clock);
    const { waybill, enqueue } = testEngine({ on: store, clock });
    await clock.whenSleeping(2);
    const one = follower(waybill);
    await clock.whenSleeping(3);
    await one.end();
    await atRest();
    expect(clock.sleepers).toBe(2);
    reads.length = 0;
    await enqueue();
    await clock.advance(10_000);
    expect(reads).toEqual([]);
  });

  test('pushes down what all followers agree on, and a handful of job ids', async () => {
    const clock = new TestClock();
    const { store, reads } = watched(clock);
    const { waybill, enqueue } = testEngine({ on: store, clock });
    const ids = await Promise.all(Array.from({ length: 20 }, () => enqueue()));
    const types = ['job.completed'] as const;
    const few = ids.slice(0, 3).map((id) => follower(waybill, { filter: { jobIds: [id], types } }));
    await atRest();
    reads.length = 0;
    await enqueue();
    await atRest();
    expect(looks(reads)).toMatchObject([{ filter: { tenant: '', types, jobIds: ids.slice(0, 3) } }]);
    const many = ids.slice(3).map((id) => follower(waybill, { filter: { jobIds: [id], types } }));
    await atRest();
    reads.length = 0;
    await enqueue();
    await atRest();
    expect(looks(reads).map(({ filter }) => filter)).toEqual([{ tenant: '', types }]);
    const everything = follower(waybill, { filter: { tenant: '*' } });
    await atRest();
    reads.length = 0;
    await enqueue();
    await atRest();
    expect(looks(reads).map(({ filter }) => filter)).toEqual([{ tenant: '*' }]);
    await Promise.all([...few, ...many, everything].map((one) => one.end()));
  });

  test('finds what other processes have written by looking now and then', async () => {
    const clock = new TestClock();
    const store = memoryStore({ clock });
    const [one, other] = [
      testEngine({ on: store, clock }),
      testEngine({ on: { ...store, close: async () => {} }, clock }),
    ];
    const reading = follower(one.waybill);
    await clock.whenSleeping(5);
    const id = await other.enqueue();
    expect(reading.ids()).toEqual([]);
    await clock.advance(250);
    await atRest();
    expect(reading.ids()).toEqual([id]);
    await reading.end();
  });

  test('a failure of the store reaches every follower, and the next one is served again', async () => {
    const clock = new TestClock();
    const faults = [{ method: 'events.end', call: 1, when: 'before' }] as const;
    const { waybill, enqueue } = testEngine({ clock, faults });
    const broken = [follower(waybill), follower(waybill)];
    for (const { ended } of broken) await expect(ended).rejects.toThrow('events.end');
    const later = follower(waybill);
    const id = await enqueue();
    await atRest();
    expect(later.ids()).toEqual([id]);
    await later.end();
  });

  test('a follower that lags loses nothing, and holds up nobody', async () => {
    const { waybill, enqueue } = testEngine();
    const stop = new AbortController();
    const slow = waybill.events.follow({ signal: stop.signal })[Symbol.asyncIterator]();
    const quick = follower(waybill);
    const first = await enqueue();
    expect((await slow.next()).value.jobId).toBe(first);
    const ids = [first];
    for (let count = 0; count < 2_500; count += 1) ids.push(await enqueue());
    await atRest();
    expect(quick.ids()).toEqual(ids);
    const read = [first];
    while (read.length < ids.length) read.push((await slow.next()).value.jobId);
    expect(read).toEqual(ids);
    const more = slow.next();
    const last = await enqueue();
    expect((await more).value.jobId).toBe(last);
    stop.abort();
    await quick.end();
  });

  test('payloads kept elsewhere are opened for those who get the event, and for nobody else', async () => {
    const blobs = memoryBlobs();
    let opened = 0;
    const get = (key: string) => {
      opened += 1;
      return blobs.store.get(key);
    };
    const counting = { ...blobs.store, get };
    const { waybill, enqueue, claimOne } = testEngine({ blobs: { store: counting, threshold: 64 } });
    const mine = await enqueue();
    const others = [await enqueue(), await enqueue()];
    const types = ['job.failed'] as const;
    const one = follower(waybill, { filter: { jobIds: [mine], types } });
    const all = follower(waybill, { filter: { types: ['job.started'] } });
    await atRest();
    for (const _ of [mine, ...others]) {
      const { job, token } = await claimOne();
      const error = { code: 'boom', message: 'x'.repeat(1_000) };
      opened = 0;
      await waybill.jobs.settle({ id: job.id, leaseToken: token, outcome: { kind: 'failed', error } });
      await atRest();
      if (job.id !== mine) expect(opened).toBe(0);
    }
    expect(JSON.stringify(one.taken)).toContain('x'.repeat(1_000));
    expect(all.taken).toHaveLength(3);
    await Promise.all([one.end(), all.end()]);
  });

  test('a follower whose filter lets nothing through learns where it could be resumed', async () => {
    const { waybill, enqueue, clock } = testEngine();
    const places: string[] = [];
    const onPlace = (cursor: string) => void places.push(cursor);
    const one = follower(waybill, { filter: { types: ['job.cancelled'] }, onPlace });
    await atRest();
    await enqueue();
    await clock.advance(6_000);
    await atRest();
    const id = await enqueue();
    const { events } = await waybill.events.read({ after: places.at(-1)!, limit: 10 });
    expect(events.map(({ jobId }) => jobId)).toEqual([id]);
    await one.end();
  });
});

test('a follower whose caller rests at an event leaves when it is aborted', async () => {
  const { waybill, enqueue, clock } = testEngine({ maintenance: false });
  const stop = new AbortController();
  const stream = waybill.events.follow({ signal: stop.signal })[Symbol.asyncIterator]();
  await enqueue();
  expect((await stream.next()).done).toBe(false);
  await clock.whenSleeping(1);
  stop.abort();
  await atRest();
  expect(clock.sleepers).toBe(0);
});

test('history does not wait for a tailer that lags behind', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  // The log's end runs away from whoever looks for it.
  const read = async (query: EventQuery) => {
    await turn();
    const page = await store.events.read(query);
    return query.until === undefined && query.limit > 1 ? { ...page, atEnd: false } : page;
  };
  const { waybill, enqueue } = testEngine({ on: { ...store, events: { ...store.events, read } }, clock });
  const first = follower(waybill);
  await atRest();
  const ids = [await enqueue(), await enqueue()];
  const late = follower(waybill);
  for (let count = 0; count < 5; count += 1) {
    await atRest();
    await clock.advance(250);
  }
  expect(late.ids().slice(0, 2)).toEqual(ids);
  await Promise.all([first.end(), late.end()]);
});

test('an id that the store cannot be asked for breaks no other follower', async () => {
  const clock = new TestClock();
  const store = memoryStore({ clock });
  const read = async (query: EventQuery) => {
    if (query.filter.jobIds?.includes('bad')) throw new Error('such an id cannot be');
    return store.events.read(query);
  };
  const { waybill, enqueue } = testEngine({ on: { ...store, events: { ...store.events, read } }, clock });
  const id = await enqueue();
  const good = follower(waybill, { filter: { jobIds: [id] } });
  await atRest();
  const bad = follower(waybill, { filter: { jobIds: ['bad'] } });
  await expect(bad.ended).rejects.toThrow('such an id');
  await waybill.jobs.cancel(id);
  await atRest();
  expect(good.taken.map(({ type }) => type)).toEqual(['job.enqueued', 'job.cancelled']);
  await good.end();
});

// fault: the log answers late, and readers come and go at random
test('guarantee 4: followers that come and go at any moment see each event behind their cursor once', async () => {
  const steps = fc.array(fc.constantFrom('write', 'write', 'join', 'leave', 'pause'), { minLength: 5, maxLength: 60 });
  const check = fc.asyncProperty(steps, fc.infiniteStream(fc.nat(3)), async (plan, waits) => {
    const clock = new TestClock();
    const inner = memoryStore({ clock });
    const pauses = waits[Symbol.iterator]();
    // The log answers late, and what it answers was true when it was asked.
    const late = async <T>(answer: Promise<T>): Promise<T> => {
      const found = await answer;
      for (let count = pauses.next().value!; count > 0; count -= 1) await turn();
      return found;
    };
    const { read, end } = inner.events;
    const events = { ...inner.events, read: (query: EventQuery) => late(read(query)), end: () => late(end()) };
    const { waybill, enqueue } = testEngine({ on: { ...inner, events }, clock });
    const written: string[] = [];
    const present: { from: number; reading: ReturnType<typeof follower> }[] = [];
    for (const step of plan) {
      if (step === 'write') written.push(await enqueue());
      if (step === 'join') {
        const after = await inner.events.end();
        present.push({ from: written.length, reading: follower(waybill, { after }) });
      }
      if (step === 'leave') await present.shift()?.reading.end();
      if (step === 'pause') await turn();
    }
    await atRest();
    await clock.advance(1_000);
    await atRest();
    await atRest();
    for (const { from, reading } of present) expect(reading.ids()).toEqual(written.slice(from));
    await Promise.all(present.map(({ reading }) => reading.end()));
    await waybill.close();
  });
  await fc.assert(check, { numRuns: propertyRuns(300) });
});
