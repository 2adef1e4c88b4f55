import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { testEngine } from '../testing/index.ts';
import { memoryBlobs } from '../testing/memory-blobs.ts';
import type { NewEntry } from './entry.ts';

const line = (sequence: number, text = `line ${sequence}\n`): NewEntry => ({
  ...{ sequence, type: 'output', stream: 'stdout', output: Buffer.from(text) },
});

async function started(options: Parameters<typeof testEngine>[0] = {}) {
  const made = testEngine(options);
  const id = await made.enqueue();
  const lease = await made.claimOne({ workerId: 'w1' });
  return { ...made, id, held: { id, leaseToken: lease.token } };
}

describe('a journal that is cut', () => {
  // fault: the answer to a call is lost, and the worker sends it again
  it('guarantee 10: a call of which a part was cut may be sent again, and is answered as the first time', async () => {
    const { waybill, held } = await started({ journal: { maxBytes: 2_000 } });
    await waybill.jobs.append({ ...held, entries: [line(1, 'x'.repeat(1_500))] });
    const ended = { sequence: 4, type: 'process.ended', data: { exit_code: 0 } };
    const entries = [line(2, 'x'.repeat(800)), line(3, 'x'.repeat(800)), ended];
    const first = await waybill.jobs.append({ ...held, entries });
    expect(first).toMatchObject({ stored: 1, head: 4, cut: 2 });
    expect(await waybill.jobs.append({ ...held, entries })).toMatchObject({ stored: 0, head: 4 });
    const after = [line(5), { ...ended, sequence: 6 }];
    expect(await waybill.jobs.append({ ...held, entries: after })).toMatchObject({ stored: 1, head: 6, cut: 1 });
    expect(await waybill.jobs.append({ ...held, entries: after })).toMatchObject({ stored: 0, head: 6, cut: 1 });
  });

  it('bounds what processes came to as well, and says that it was cut', async () => {
    const { waybill, id, held } = await started({ journal: { maxBytes: 10_000 } });
    const said = async (type: string, from: number) => {
      for (let sequence = from; sequence < from + 10; sequence += 1)
        await waybill.jobs.append({ ...held, entries: [{ sequence, type, data: 'y'.repeat(5_000) }] });
      return (await waybill.jobs.journal(id)).entries;
    };
    const kept = await said('process.ended', 1);
    expect(kept.map(({ type }) => type)).toContain('journal.cut');
    expect(kept.length).toBeLessThan(9);
    // Only the three known names are exempt from the bound.
    expect((await said('process.chatter', 50)).length).toBe(kept.length);
  });
});

it('a blob that is missing is shown as unreadable, whatever types are wanted, and does not hide the rest', async () => {
  const { store: blobs } = memoryBlobs();
  const { waybill, id, held } = await started({ blobs: { store: blobs } });
  const output = randomBytes(9_000_000);
  await waybill.jobs.append({ ...held, entries: [{ sequence: 1, type: 'output', output }, line(2)] });
  await blobs.deletePrefix('');
  for (const query of [{}, { types: ['output'] }]) {
    const { entries } = await waybill.jobs.journal(id, query);
    expect(entries.map(({ type }) => type)).toEqual(['journal.unreadable', 'output']);
  }
});

it('refuses what no database could compare: run numbers and names that no run has', async () => {
  const { waybill, id, held } = await started();
  const entries = [line(1)];
  const huge = held.leaseToken.replace(/^1\./, '3000000000.');
  await expect(waybill.jobs.append({ id, leaseToken: huge, entries })).rejects.toMatchObject({ code: 'lease_lost' });
  const refused = { code: 'invalid_request' };
  await expect(waybill.jobs.append({ id, workerId: 'a\0b', entries })).rejects.toMatchObject(refused);
  await expect(waybill.jobs.journal(id, { types: ['a\0'] })).rejects.toMatchObject(refused);
});

// fault: a worker sends entries that only Waybill writes
it.each(['journal.cut', 'journal.unreadable', 'journal.anything'])(
  "an entry '%s' is refused, and so is all that was sent with it",
  async (type) => {
    const { waybill, id, held } = await started();
    const entries = [line(1), { sequence: 2, type, data: { max_bytes: 1 } }];
    await expect(waybill.jobs.append({ ...held, entries })).rejects.toMatchObject({
      ...{ code: 'invalid_request', message: expect.stringContaining("are Waybill's own") },
      details: { field: 'entries[1].type' },
    });
    expect((await waybill.jobs.journal(id)).entries).toEqual([]);
    // What a worker could not send, and what became of a process, only the worker knows.
    const own = ['journal.dropped', 'process.started', 'process.ended', 'process.failed', 'heartbeat', 'metric'];
    await waybill.jobs.append({ ...held, entries: own.map((one, index) => ({ sequence: index + 1, type: one })) });
    expect((await waybill.jobs.journal(id)).entries.map((entry) => entry.type)).toEqual(own);
  },
);

it('what stands for missing entries passes every filter of types', async () => {
  const { waybill, id, held } = await started({ journal: { maxBytes: 3_000 } });
  const dropped = { sequence: 2, type: 'journal.dropped', data: { entries: 5, reason: 'memory' } };
  await waybill.jobs.append({ ...held, entries: [line(1), dropped, { sequence: 3, type: 'metric', data: 1 }] });
  await waybill.jobs.append({ ...held, entries: [line(4, 'x'.repeat(5_000))] });
  const found = async (types: string[]) => (await waybill.jobs.journal(id, { types })).entries.map(({ type }) => type);
  expect(await found(['output'])).toEqual(['output', 'journal.dropped', 'journal.cut']);
  expect(await found(['metric'])).toEqual(['journal.dropped', 'metric', 'journal.cut']);
});

it('a filtered reader learns that older entries were pruned, too', async () => {
  const { waybill, store, id, held, clock } = await started();
  await waybill.jobs.append({ ...held, entries: [line(1), { sequence: 2, type: 'metric', data: 1 }] });
  await clock.advance(1_000);
  const kept = clock.now();
  await waybill.jobs.append({ ...held, entries: [line(3)] });
  await store.prune({ finishedBefore: 0, deadBefore: 0, eventsBefore: 0, limit: 100, journalBefore: kept });
  const missed = async (query: object) => (await waybill.jobs.journal(id, query)).missed;
  expect((await waybill.jobs.journal(id)).entries.map(({ sequence }) => sequence)).toEqual([3]);
  for (const query of [
    {},
    { types: ['output'] },
    { types: ['metric'] },
    { types: ['output'], run: 1 },
    { fromTime: kept - 10 },
  ])
    expect([query, await missed(query)]).toEqual([query, true]);
  for (const query of [
    { fromSequence: 3, types: ['output'] },
    { cursor: '1.2', types: ['output'] },
    { fromTime: kept },
  ])
    expect([query, await missed(query)]).toEqual([query, false]);
});
