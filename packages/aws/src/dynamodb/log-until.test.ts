import type { LoggedEvent, Store } from '@waybill/core';
import { aJob, TestClock } from '@waybill/core/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { answered, FaultyProxy } from '../testing/faulty-proxy.ts';
import { localClient } from '../testing/local-dynamo.ts';
import { ORPHANED_AFTER_MS } from './orphan-watch.ts';
import { canRun, useLocalDynamo } from './testing/bench.ts';
import { FaultyClient } from './testing/faulty-client.ts';

/** Tells a hang from an answer. */
const HANGS_MS = 30_000;
const DAY_MS = 86_400_000;

describe.skipIf(!canRun)('a reader up to a place that writers have yet to come to (skipped: needs Java 17)', () => {
  const local = useLocalDynamo();

  /** A log of three jobs. The second one is on its way: its segment is there, its row is not. */
  async function open() {
    const table = local.newTable();
    const clock = new TestClock();
    const client = new FaultyClient(local.client());
    const { store, close } = await local.open({ table, clock, client });
    onTestFinished(close);
    const proxy = await FaultyProxy.start(local.endpoint());
    onTestFinished(() => proxy.close());
    const slowClient = localClient(proxy.endpoint, local.accessKey());
    onTestFinished(() => slowClient.destroy());
    const slow = await local.open({ table, client: slowClient });
    const jobs = [aJob(), aJob(), aJob()];
    await store.insert([{ jobs: [jobs[0]!] }]);
    const holding = proxy.hold('request', '"pk":{"S":"J#');
    const inserting = slow.store.insert([{ jobs: [jobs[1]!] }]).catch(() => 'refused');
    const letGo = await answered(holding, HANGS_MS);
    await store.insert([{ jobs: [jobs[2]!] }]);
    const until = await store.events.end();
    const arrive = async () => {
      letGo();
      return answered(inserting, HANGS_MS);
    };
    return { store, clock, client, until, arrive, ids: jobs.map(({ job }) => job.id) };
  }

  const readFrom = (store: Store, until: string, after?: string) =>
    store.events.read({ filter: { tenant: '*' }, until, limit: 10, ...(after !== undefined && { after }) });

  /** As somebody reads who asks again at once. */
  async function readAll(store: Store, until: string, after: string): Promise<LoggedEvent[]> {
    const { events, cursor, atEnd } = await readFrom(store, until, after);
    return atEnd ? events : [...events, ...(await readAll(store, until, cursor))];
  }

  it('is not there before they are, and does not ask all the time', async () => {
    const { store, client, until, arrive, ids } = await open();
    const first = await readFrom(store, until);
    expect(first).toMatchObject({ events: [{ jobId: ids[0] }], atEnd: false, missed: false });
    const [requests, began] = [client.requests.length, performance.now()];
    expect(await readFrom(store, until, first.cursor)).toEqual({ ...first, events: [] });
    expect(client.requests.length - requests).toBeLessThanOrEqual(20);
    expect(performance.now() - began).toBeGreaterThan(500);
    const reading = readAll(store, until, first.cursor);
    await arrive();
    await store.insert([{ jobs: [aJob()] }]);
    expect((await reading).map(({ jobId }) => jobId)).toEqual(ids.slice(1));
    expect(await readFrom(store, until, until)).toEqual({ events: [], cursor: until, atEnd: true, missed: false });
  });

  it('is there when it has settled what their writer left behind', async () => {
    const { store, clock, until, arrive, ids } = await open();
    const first = await readFrom(store, until);
    await clock.advance(ORPHANED_AFTER_MS);
    const page = await readFrom(store, until, first.cursor);
    expect(page).toMatchObject({ events: [{ jobId: ids[2] }], cursor: until, atEnd: true });
    expect(await arrive()).toBe('refused');
  });

  it('one that goes on by itself does not wait for them', async () => {
    const { store, client, arrive, ids } = await open();
    const requests = client.requests.length;
    const page = await store.events.read({ filter: { tenant: '*' }, limit: 10 });
    expect(page).toMatchObject({ events: [{ jobId: ids[0] }], atEnd: true });
    expect(client.requests.length - requests).toBe(2);
    await arrive();
  });

  it('has nothing left to read where everything up to there has expired', async () => {
    const { store, clock, until, arrive } = await open();
    await arrive();
    await clock.advance(400 * DAY_MS);
    await store.insert([{ jobs: [aJob()] }]);
    await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 1 });
    const nothing = { events: [], cursor: until, atEnd: true };
    expect(await readFrom(store, until)).toEqual({ ...nothing, missed: false });
    expect(await readFrom(store, until, '1')).toEqual({ ...nothing, missed: true });
  });

  it('ends within a segment that tells of several changes', async () => {
    const { store, arrive } = await open();
    await arrive();
    const after = await store.events.end();
    const jobs = [aJob(), aJob(), aJob()];
    await store.insert(jobs.map((job) => ({ jobs: [job] })));
    const { events } = await store.events.read({ filter: { tenant: '*' }, after, limit: 10 });
    const until = events[1]!.cursor;
    const page = await readFrom(store, until, after);
    expect(page).toEqual({ events: events.slice(0, 2), cursor: until, atEnd: true, missed: false });
    const one = await store.events.read({ filter: { tenant: '*' }, after, until, limit: 1 });
    expect(one).toMatchObject({ events: [events[0]], atEnd: false });
  });

  // fault: processes die right after they have drawn their positions, in several buckets of the log
  it('comes past many dead writers in one minute, not in one for each hundred calls', async () => {
    const table = local.newTable();
    const clock = new TestClock();
    const { store, close } = await local.open({ table, clock });
    onTestFinished(close);
    const told: string[] = [];
    for (let writers = 0; writers < 5; writers++) {
      const jobs = Array.from({ length: 60 }, () => aJob());
      await Promise.all(jobs.map((job) => store.insert([{ jobs: [job] }])));
      told.push(...jobs.map(({ job }) => job.id));
      const client = new FaultyClient(local.client());
      const doomed = await local.open({ table, clock, client });
      const last = aJob();
      // From then on it knows the queue, and its next request draws a position.
      await doomed.store.insert([{ jobs: [last] }]);
      told.push(last.job.id);
      client.faults = { crashAfter: client.requests.length + 1 };
      await expect(doomed.store.insert([{ jobs: [aJob()] }])).rejects.toThrow();
    }
    expect(await store.events.end(), 'each has left a position').toBe(String(told.length + 5 + 1));
    const seen: LoggedEvent[] = [];
    let cursor: string | undefined;
    const read = async (): Promise<void> => {
      for (let isMoving = true; isMoving; ) {
        const after = cursor === undefined ? {} : { after: cursor };
        const page = await store.events.read({ filter: { tenant: '*' }, limit: 500, ...after });
        isMoving = page.cursor !== cursor;
        seen.push(...page.events);
        cursor = page.cursor;
      }
    };
    const { eventLagMs } = store.capabilities;
    for (let waitedMs = 0; waitedMs <= eventLagMs; waitedMs += 5_000) {
      await read();
      await clock.advance(5_000);
    }
    expect(new Set(seen.map(({ jobId }) => jobId))).toEqual(new Set(told));
  });
});
