import type { Events, FollowQuery } from '@waybill/core';
import { testEngine } from '@waybill/core/testing';
import { task } from '@waybill/worker';
import { describe, expect, it } from 'vitest';
import { connectionTo } from './connect.ts';

const hold = task('hold.one', { run: () => {} });

/** An engine whose streams of events are counted, and can be broken. */
function counted() {
  const { waybill, clock, enqueue } = testEngine();
  const opened: FollowQuery[] = [];
  let open = 0;
  let most = 0;
  const broken = new AbortController();
  const follow: Events['follow'] = async function* (query) {
    opened.push(query);
    open += 1;
    most = Math.max(most, open);
    try {
      for await (const event of waybill.events.follow(query)) {
        broken.signal.throwIfAborted();
        yield event;
      }
    } finally {
      open -= 1;
    }
  };
  const connection = connectionTo({ ...waybill, events: { ...waybill.events, follow } }, { clock });
  return { waybill, connection, clock, enqueue, opened, broken, streams: () => ({ open, most }) };
}

describe('A12: the waits of one connection', () => {
  it('share one stream, whenever they begin, and none is missed', async () => {
    const { waybill, connection, opened, streams } = counted();
    const waits: Promise<unknown>[] = [];
    const ids: string[] = [];
    for (let count = 0; count < 200; count += 1) {
      const { id } = await connection.enqueue(hold);
      ids.push(id);
      waits.push(connection.wait(id).catch((error: Error) => error.message));
      // Every third one ends while others still begin to wait.
      if (count % 3 === 2) await waybill.jobs.cancel(ids[count - 1]!);
      if (count % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    expect(streams().most).toBe(1);
    const asked = opened.length;
    for (const id of ids) await waybill.jobs.cancel(id).catch(() => {});
    for (const message of await Promise.all(waits)) expect(message).toContain('it was cancelled');
    // Beyond a handful nothing more is opened for each.
    expect(asked).toBeLessThan(100);
    expect(opened.at(-1)!.filter).not.toHaveProperty('jobIds');
    await expect.poll(() => streams().open).toBe(0);
  });

  it('may all begin at once', async () => {
    const { waybill, connection, opened } = counted();
    const made = await connection.enqueueMany(hold, Array(200).fill(undefined));
    const waits = made.map((job) => connection.wait(job).catch((error: Error) => error.message));
    await expect.poll(() => opened.length).toBe(1);
    for (const { id } of made) await waybill.jobs.cancel(id);
    for (const message of await Promise.all(waits)) expect(message).toContain('it was cancelled');
  });

  it('ask for their own jobs while they are few', async () => {
    const { waybill, connection, opened } = counted();
    const { id } = await connection.enqueue(hold);
    const waiting = expect(connection.wait(id)).rejects.toThrow('cancelled');
    await expect.poll(() => opened.length).toBe(1);
    expect(opened[0]!.filter).toMatchObject({ jobIds: [id] });
    await waybill.jobs.cancel(id);
    await waiting;
  });

  it('look again after the stream broke, also at what ended before it was opened again', async () => {
    const { waybill, connection, clock, broken, opened } = counted();
    const [first, second] = [await connection.enqueue(hold), await connection.enqueue(hold)];
    const waits = [first, second].map((job) => expect(connection.wait(job)).rejects.toThrow('cancelled'));
    await expect.poll(() => opened.length).toBeGreaterThan(0);
    broken.abort();
    await waybill.jobs.cancel(first.id);
    await waits[0];
    // Nobody follows now, and this end is told to nobody.
    await waybill.jobs.cancel(second.id);
    await clock.advance(2_000);
    await waits[1];
  });

  it('look again when events were missed: their log may be another one by now', async () => {
    const { waybill, clock } = testEngine();
    let missed = () => {};
    const follow: Events['follow'] = async function* ({ signal, onMissed = missed }) {
      missed = onMissed;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    };
    const connection = connectionTo({ ...waybill, events: { ...waybill.events, follow } }, { clock });
    const job = await connection.enqueue(hold);
    const waiting = expect(connection.wait(job)).rejects.toThrow('cancelled');
    await new Promise((resolve) => setImmediate(resolve));
    await waybill.jobs.cancel(job.id);
    missed();
    await waiting;
  });
});
