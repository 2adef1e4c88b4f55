import { type RemoteOptions, remote } from '@waybill/client/http';
import type { FollowedItem, NewEntry, Waybill } from '@waybill/core';
import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import { remoteHarness } from '../testing/remote-harness.ts';

const endless = () => new AbortController().signal;
const line = (sequence: number, text = `line ${sequence} \u001b[1mä\n`): NewEntry => ({
  ...{ sequence, type: 'output', stream: 'stdout', output: new TextEncoder().encode(text) },
});
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => line(from + n));

async function running(options: Parameters<typeof remoteHarness>[0] = {}) {
  const made = remoteHarness(options);
  const { job } = await made.waybill.jobs.enqueue({ type: 'test.job', args: [] });
  const [lease] = await made.waybill.jobs.claim({ queues: ['default'] });
  return { ...made, id: job.id, held: { id: job.id, leaseToken: lease!.token } };
}

const nameOf = (said: FollowedItem): string =>
  said.kind === 'entry' ? `${said.entry.run}.${said.entry.sequence}` : said.event.type;

/** Breaks each connection after so many bytes; after the last of them it lets everything through. */
function cutting(
  app: { request: NonNullable<RemoteOptions['fetch']> },
  cuts: readonly { bytes: number; ends: boolean }[],
) {
  let connections = 0;
  const fetch: RemoteOptions['fetch'] = async (url, init) => {
    const cut = cuts[connections++];
    const response = await app.request(url, init);
    if (cut === undefined || response.body === null) return response;
    const reader = response.body.getReader();
    let left = cut.bytes;
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        const piece = value.subarray(0, left);
        left -= piece.byteLength;
        if (piece.byteLength > 0) controller.enqueue(piece);
        if (left > 0) return;
        await reader.cancel();
        if (cut.ends) controller.close();
        else controller.error(new TypeError('terminated'));
      },
      cancel: () => reader.cancel(),
    });
    return new Response(body, response);
  };
  return { fetch, connections: () => connections };
}

const settled = (waybill: Waybill, held: { id: string; leaseToken: string }) =>
  waybill.jobs.settle({ ...held, outcome: { kind: 'completed', result: null } });

describe('follow', () => {
  // fault: connections that break or end anywhere, in the midst of a message too
  test('a journal whose connections are cut anywhere has no gap and no duplicate, and ends with the job', async () => {
    const cuts = fc.array(fc.record({ bytes: fc.nat(1_500), ends: fc.boolean() }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(cuts, fc.boolean(), async (some, lifecycle) => {
        const { app, waybill, id, held } = await running({ maintenance: false });
        const proxy = cutting(app as never, some);
        const client = remote('http://waybill.test', { sleep: async () => {}, fetch: proxy.fetch });
        await waybill.jobs.append({ ...held, entries: lines(0, 9) });
        const read = (async () => {
          const seen: string[] = [];
          for await (const said of client.jobs.follow(id, { signal: endless(), lifecycle })) seen.push(nameOf(said));
          return seen;
        })();
        for (let n = 10; n < 20; n += 2) await waybill.jobs.append({ ...held, entries: lines(n, n + 1) });
        await settled(waybill, held);
        const seen = await read;
        await client.close();
        await waybill.close();
        expect(seen.filter((name) => name.startsWith('1.'))).toEqual(Array.from({ length: 20 }, (_, n) => `1.${n}`));
        const life = lifecycle ? ['job.enqueued', 'job.started', 'job.completed'] : [];
        expect(seen.filter((name) => name.startsWith('job.'))).toEqual(life);
      }),
      { numRuns: 30 },
    );
  });

  test('tells once that what comes is live, and begins behind a cursor', async () => {
    const { app, waybill, id, held } = await running();
    await waybill.jobs.append({ ...held, entries: lines(1, 5) });
    const proxy = cutting(app as never, [{ bytes: 900, ends: true }]);
    const client = remote('http://waybill.test', { sleep: async () => {}, fetch: proxy.fetch });
    onTestFinished(() => client.close());
    const live = Promise.withResolvers<void>();
    let lives = 0;
    const onLive = () => {
      lives += 1;
      live.resolve();
    };
    const read = (async () => {
      const seen: string[] = [];
      for await (const said of client.jobs.follow(id, { signal: endless(), cursor: '1.3', onLive }))
        seen.push(nameOf(said));
      return seen;
    })();
    await live.promise;
    for (let n = 6; n <= 12; n += 1) await waybill.jobs.append({ ...held, entries: [line(n)] });
    await settled(waybill, held);
    expect(await read).toEqual(['1.4', '1.5', '1.6', '1.7', '1.8', '1.9', '1.10', '1.11', '1.12']);
    expect([lives, proxy.connections()]).toEqual([1, 2]);
  });

  test('tells that entries were pruned, before it goes on', async () => {
    const { client, waybill, id, held } = await running();
    await waybill.jobs.append({ ...held, entries: lines(1, 3) });
    const { follow } = waybill.jobs;
    waybill.jobs.follow = async function* (job, query) {
      query?.onMissed?.();
      yield* follow(job, query);
    };
    await settled(waybill, held);
    const told: string[] = [];
    const onMissed = () => told.push('missed');
    for await (const said of client.jobs.follow(id, { signal: endless(), onMissed })) told.push(nameOf(said));
    expect(told).toEqual(['missed', '1.1', '1.2', '1.3']);
  });

  test('ends when it is aborted and when the client closes; a refusal is for good', async () => {
    const { client, id, clock } = await running({ maintenance: false });
    const gone = new AbortController();
    const aborted = client.jobs.follow(id, { signal: gone.signal })[Symbol.asyncIterator]().next();
    const closed = client.jobs.follow(id, { signal: endless(), stay: true })[Symbol.asyncIterator]().next();
    await clock.whenSleeping(1);
    gone.abort();
    expect((await aborted).done).toBe(true);
    await client.close();
    expect((await closed).done).toBe(true);
    await expect.poll(() => clock.sleepers).toBe(0);
  });

  test('a job that is gone when the connection is made again is not there', async () => {
    const { app, waybill, id, held } = await running();
    await waybill.jobs.append({ ...held, entries: lines(1, 2) });
    const proxy = cutting(app as never, [{ bytes: 250, ends: false }]);
    const client = remote('http://waybill.test', { sleep: async () => {}, fetch: proxy.fetch });
    onTestFinished(() => client.close());
    const reading = client.jobs.follow(id, { signal: endless() })[Symbol.asyncIterator]();
    expect(nameOf((await reading.next()).value!)).toBe('1.1');
    waybill.jobs.journal = async () => waybill.jobs.get('01900000-0000-7000-8000-000000000000') as never;
    await expect(reading.next()).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('append', () => {
  // fault: the answer of an append is lost
  test('guarantee 10: an append whose answer was lost is sent again, and stored once', async () => {
    const { client, waybill, id, held, drop, sent } = await running();
    drop('/journal', 'after');
    expect(await client.jobs.append({ ...held, entries: lines(1, 3) })).toMatchObject({ stored: 0, head: 3 });
    expect(sent).toHaveLength(2);
    expect((await waybill.jobs.journal(id)).entries).toHaveLength(3);
    drop('/journal', 'after');
    const unfenced = client.jobs.append({ id, entries: [line(4)] });
    await expect(unfenced).rejects.toMatchObject({ code: 'unavailable' });
    expect(sent).toHaveLength(3);
  });

  test('a large call goes in several, and in smaller ones where the server takes less', async () => {
    const { client, waybill, id, held, sent } = await running({ maxBodyBytes: 50_000 });
    const entries = Array.from({ length: 12 }, (_, n) => line(n + 1, '\u0001'.repeat(5_000)));
    expect(await client.jobs.append({ ...held, entries })).toEqual({ run: 1, stored: 12, head: 12, cut: 0 });
    expect(sent.length).toBeGreaterThan(12);
    expect((await waybill.jobs.journal(id)).entries.map(({ sequence }) => sequence)).toHaveLength(12);
    const huge = client.jobs.append({ ...held, entries: [line(13, 'x'.repeat(60_000))] });
    await expect(huge).rejects.toMatchObject({ code: 'payload_too_large' });
  });
});
