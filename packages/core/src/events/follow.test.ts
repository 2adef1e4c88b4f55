import { expect, test } from 'vitest';
import { testEngine } from '../testing/test-engine.ts';
import type { LoggedEvent } from './job-event.ts';

/** Takes the next `count` events of an endless stream. */
async function take(stream: AsyncIterable<LoggedEvent>, count: number): Promise<LoggedEvent[]> {
  const taken: LoggedEvent[] = [];
  for await (const event of stream) {
    taken.push(event);
    if (taken.length === count) break;
  }
  return taken;
}

const told = (events: readonly LoggedEvent[]) => events.map(({ jobId, type }) => [jobId, type]);

test('history first, then live, without gap or repetition', async () => {
  const { waybill, enqueue } = testEngine();
  const signal = new AbortController().signal;
  const before = [await enqueue(), await enqueue()];
  const reading = take(waybill.events.follow({ signal }), 5);
  const after = [await enqueue(), await enqueue(), await enqueue()];
  expect(told(await reading)).toEqual([...before, ...after].map((id) => [id, 'job.enqueued']));
});

test('every event carries the cursor that continues right behind it', async () => {
  const { waybill, enqueue } = testEngine();
  const signal = new AbortController().signal;
  const ids = await Promise.all([enqueue(), enqueue(), enqueue(), enqueue()]);
  const all = await take(waybill.events.follow({ signal }), 4);
  for (const [index, { cursor }] of all.slice(0, -1).entries()) {
    const rest = await take(waybill.events.follow({ after: cursor, signal }), 3 - index);
    expect(told(rest)).toEqual(told(all.slice(index + 1)));
  }
  expect(new Set(all.map(({ jobId }) => jobId))).toEqual(new Set(ids));
});

test('filters apply to history and live alike', async () => {
  const { waybill, enqueue, claimOne } = testEngine();
  const signal = new AbortController().signal;
  await enqueue({ queue: 'other' });
  const id = await enqueue();
  const filter = { queues: ['default'], types: ['job.started', 'job.completed'] as const };
  const reading = take(waybill.events.follow({ filter, signal }), 2);
  const { token } = await claimOne();
  await waybill.jobs.settle({ id, leaseToken: token, outcome: { kind: 'completed', result: null } });
  expect(told(await reading)).toEqual([
    [id, 'job.started'],
    [id, 'job.completed'],
  ]);
});

test('a follower ends when it is aborted and when the engine closes', async () => {
  const { waybill, clock } = testEngine();
  const gone = new AbortController();
  const aborted = take(waybill.events.follow({ signal: gone.signal }), 1);
  const closed = take(waybill.events.follow({ signal: new AbortController().signal }), 1);
  await clock.whenSleeping(3);
  gone.abort();
  expect(await aborted).toEqual([]);
  await waybill.close();
  expect(await closed).toEqual([]);
});

test('a follower is told, before it goes on, that events were pruned behind its cursor', async () => {
  const { waybill, store, clock, enqueue } = testEngine({ maintenance: false });
  const signal = new AbortController().signal;
  await enqueue();
  const after = await waybill.events.end();
  const [seen, lost] = [await enqueue(), await enqueue()];
  const told: string[] = [];
  const onMissed = () => told.push('missed');
  const follower = waybill.events.follow({ after, signal, onMissed })[Symbol.asyncIterator]();
  told.push((await follower.next()).value.jobId);
  await clock.advance(1_000);
  await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: clock.now(), limit: 100 });
  const kept = await enqueue();
  // The page that was read before is read to its end; whoever begins now finds the gap.
  for (let count = 0; count < 2; count += 1) told.push((await follower.next()).value.jobId);
  for (const { jobId } of await take(waybill.events.follow({ after, signal, onMissed }), 1)) told.push(jobId!);
  expect(told).toEqual([seen, lost, kept, 'missed', kept]);
});

test('a misspelt filter is refused, since it would let everything through', async () => {
  const { waybill } = testEngine();
  const filter = { jobId: ['x'] } as never;
  const { signal } = new AbortController();
  await expect(waybill.events.read({ filter, limit: 1 })).rejects.toThrow("has no 'jobId'. Did you mean 'jobIds'?");
  expect(() => waybill.events.follow({ filter, signal })).toThrow("has no 'jobId'");
});
