import { describe, expect, it, onTestFinished } from 'vitest';
import { type TestEngine, testEngine } from '../testing/index.ts';
import type { FollowedItem, FollowJobQuery } from '../waybill.ts';
import { entryBytes } from './entry.ts';
import { Followers } from './followers.ts';
import { START } from './reader.ts';
import { Feed } from './topic.ts';

/** Follows until the end, and lets time pass until then. */
async function followed(
  { waybill, clock }: TestEngine,
  id: string,
  query: Omit<FollowJobQuery, 'signal'>,
  meanwhile: () => Promise<unknown>,
): Promise<FollowedItem[]> {
  const enough = new AbortController();
  onTestFinished(() => enough.abort());
  const live = Promise.withResolvers<void>();
  const read = async () => {
    const items: FollowedItem[] = [];
    const all = { ...query, signal: enough.signal, onLive: () => live.resolve() };
    for await (const item of waybill.jobs.follow(id, all)) items.push(item);
    return items;
  };
  let isOver = false;
  const items = read().finally(() => {
    isOver = true;
  });
  await live.promise;
  await meanwhile();
  for (let turns = 0; !isOver && turns < 100; turns += 1) {
    await clock.advance(500);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(isOver).toBe(true);
  return items;
}

const COMPLETED = { kind: 'completed', result: null } as const;

describe('follow ends', () => {
  // Where the follower would stay as well: a row that is gone says nothing any more.
  it.each([{}, { stay: true }])(
    'with a job on a queue that keeps nothing, whose end no event reports: %o',
    async (query) => {
      const made = testEngine();
      const { waybill } = made;
      await waybill.queues.setKeep('default', 'none');
      const id = await made.enqueue();
      const { token } = await made.claimOne({ workerId: 'w1' });
      const held = { id, leaseToken: token };
      await waybill.jobs.append({ ...held, entries: [{ sequence: 1, type: 'step', data: 1 }] });
      const items = await followed(made, id, query, () => waybill.jobs.settle({ ...held, outcome: COMPLETED }));
      expect(items).toMatchObject([{ kind: 'entry', entry: { sequence: 1 } }]);
    },
  );

  it('with the last event, where the job ends while the follower reads the log', async () => {
    const made = testEngine();
    const { waybill, store } = made;
    const id = await made.enqueue();
    const { token } = await made.claimOne({ workerId: 'w1' });
    const { get } = store;
    // The row is read behind the log; the job ends in between.
    let hasEnded = false;
    store.get = async (keys) => {
      if (!hasEnded) {
        hasEnded = true;
        await waybill.jobs.settle({ id, leaseToken: token, outcome: COMPLETED });
      }
      return get.call(store, keys);
    };
    const types: string[] = [];
    const signal = AbortSignal.timeout(60_000);
    for await (const item of waybill.jobs.follow(id, { lifecycle: true, signal }))
      if (item.kind === 'event') types.push(item.event.type);
    expect(types).toEqual(['job.enqueued', 'job.started', 'job.completed']);
  });
});

it('what waits for a slow follower is bounded by the bytes of its data, too', () => {
  const feed = new Feed({ run: 0, sequence: -1 }, { onEntries: () => {}, onEnded: () => {} });
  const entries = [1, 2].map((sequence) => ({ run: 1, sequence, at: 0, type: 'x', data: 'y'.repeat(200_000) }));
  for (const entry of entries) feed.push([entry], [entryBytes(entry)], entry);
  expect(feed.take()).toBeUndefined();
});

it('refuses an option that only a page has, and names those of follow', () => {
  const { waybill } = testEngine();
  const follow = async (query: object) => {
    const signal = AbortSignal.timeout(60_000);
    for await (const _ of waybill.jobs.follow('0197b7a0-0000-7000-8000-000000000000', { signal, ...query }));
  };
  return expect(follow({ limit: 3 })).rejects.toMatchObject({ code: 'invalid_request' });
});

it('a follower that leaves while many events wait for it is let go at once', async () => {
  const made = testEngine();
  const { waybill } = made;
  const id = await made.enqueue();
  const { token } = await made.claimOne({ workerId: 'w1' });
  const live = Promise.withResolvers<void>();
  const signal = AbortSignal.timeout(60_000);
  const followed = waybill.jobs.follow(id, { lifecycle: true, signal, onLive: () => live.resolve() });
  const items = followed[Symbol.asyncIterator]();
  await items.next();
  await items.next();
  const last = items.next();
  await live.promise;
  for (let step = 1; step <= 150; step += 1)
    await waybill.jobs.report({ id, leaseToken: token, fraction: step / 200, number: step });
  await last;
  await new Promise((resolve) => setImmediate(resolve));
  await items.return?.();
});

it('a follower that joins a topic in the turn in which the last one leaves is heard', async () => {
  for (let delay = 0; delay < 8; delay += 1) {
    const made = testEngine();
    const key = { tenant: '', id: await made.enqueue() };
    const { token } = await made.claimOne({ workerId: 'w1' });
    const { journal } = made.store;
    const followers = new Followers({
      ...{ journal: journal!, clock: made.clock, capabilities: { wakesAcrossProcesses: true } },
      endedState: async () => undefined,
    });
    const listener = { onEntries: () => {}, onEnded: () => {} };
    const first = followers.topicOf(key);
    const feed = first.join(START, listener)!;
    await new Promise((resolve) => setImmediate(resolve));
    first.leave(feed);
    for (let turn = 0; turn < delay; turn += 1) await Promise.resolve();
    const heard = Promise.withResolvers<void>();
    const second = followers.topicOf(key);
    const own = second.join(START, { ...listener, onEntries: heard.resolve })!;
    onTestFinished(() => second.leave(own));
    await made.waybill.jobs.append({ id: key.id, leaseToken: token, entries: [{ sequence: 1, type: 'x', data: 1 }] });
    await heard.promise;
  }
});
