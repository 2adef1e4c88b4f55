import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { Json, JsonObject } from '../json.ts';
import { aJob } from '../testing/factories.ts';
import { TINY_THRESHOLD, temporaryBlobs } from '../testing/offloaded.ts';
import type { BlobStore } from './blob-store.ts';
import { JobPayloads } from './job-payloads.ts';
import { Payloads } from './payloads.ts';
import { folderOf, ownerOf, readReference, referenceTo } from './reference.ts';

/** Blobs without a disk, for thousands of them. */
function blobsInMemory(): BlobStore & { kept: Map<string, Uint8Array> } {
  const kept = new Map<string, Uint8Array>();
  return {
    kept,
    put: async (key, data) => void kept.set(key, data),
    get: async (key) => kept.get(key) ?? null,
    deletePrefix: async (prefix) => {
      for (const key of kept.keys()) if (key.startsWith(prefix)) kept.delete(key);
    },
    list: async () => [],
    close: async () => {},
  };
}

/** What a program that has not read the row before makes of it. */
const elsewhere = (blobs: BlobStore, threshold = TINY_THRESHOLD) => new JobPayloads(new Payloads(blobs, threshold));
const stored = <T>(row: T): T => JSON.parse(JSON.stringify(row)) as T;

const mark = fc.constantFrom('$waybill:blob', '$waybill:plain', '$waybill:', '$waybill:new');
const reference = fc.record({ name: fc.constantFrom(`args-${'0'.repeat(32)}`, 'x'), bytes: fc.nat() });
/** JSON that loves to look like one of our marks, at any depth. */
const trickyJson: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.jsonValue({ maxDepth: 1 }) as fc.Arbitrary<Json>,
    fc.tuple(mark, fc.oneof(tie('value'), reference)).map(([key, value]) => ({ [key]: value }) as JsonObject),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
})).value;
const trickyObject = trickyJson.map((value) =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : { value },
);

test('whatever a payload looks like, also like a reference of ours, it is read as it was written', async () => {
  const blobs = blobsInMemory();
  const rows = fc.record({
    args: fc.array(trickyJson, { maxLength: 2 }),
    meta: trickyObject,
    extra: trickyObject,
    result: trickyJson,
    details: trickyJson,
    data: trickyObject,
  });
  const check = fc.asyncProperty(rows, fc.constantFrom(16, 64, 100_000), async (row, threshold) => {
    const { args, meta, extra, result, details } = row;
    const { job: plain, events } = aJob({ spec: { args, meta, extra } });
    const error = { code: 'boom', message: 'It broke, at some length.', details, attempt: 1, run: 1, occurredAt: 0 };
    const job = { ...plain, result, errors: [error] };
    const told = events.map((event) => ({ ...event, data: row.data }));
    const writer = elsewhere(blobs, threshold);
    const [sealed, sealedEvents] = [await writer.seal(job), await writer.sealEvents(told)];
    const reader = elsewhere(blobs, threshold);
    expect(await reader.open(stored(sealed))).toEqual(stored(job));
    const opened = await Promise.all(stored(sealedEvents).map((event) => reader.openEvent(event)));
    expect(opened).toEqual(stored(told));
  });
  await fc.assert(check, { numRuns: 500 });
  expect(blobs.kept.size).toBeGreaterThan(100);
});

test('a row that is read and written again is the same row, whatever threshold its reader has', async () => {
  const blobs = blobsInMemory();
  const long = 'x'.repeat(100);
  const job = { ...aJob({ spec: { args: [long], meta: { long } } }).job, result: { long } };
  const row = stored(await elsewhere(blobs, 64).seal(job));
  for (const threshold of [16, 64, 100_000]) {
    const engine = elsewhere(blobs, threshold);
    expect((await engine.seal(engine.leave(stored(row)))).spec).toEqual(row.spec);
    expect((await engine.seal(await engine.open(stored(row)))).spec).toEqual(row.spec);
  }
});

test('what was read is not put again', async () => {
  const { blobs, remove } = await temporaryBlobs();
  onTestFinished(remove);
  let puts = 0;
  const counted = { ...blobs, put: (key: string, data: Uint8Array) => blobs.put(key, data).then(() => void puts++) };
  const payloads = elsewhere(counted);
  const job = aJob({ spec: { args: ['a text of some length'], meta: {} } }).job;
  const sealed = await payloads.seal(job);
  expect(puts).toBe(1);
  await payloads.seal(await payloads.open(stored(sealed)));
  await payloads.seal(job);
  expect(puts).toBe(1);
});

test('jobs that share a payload have a blob each, since they do not go at the same time', async () => {
  const blobs = blobsInMemory();
  const payloads = elsewhere(blobs);
  const spec = { args: ['a text of some length'], meta: {} };
  const jobs = [aJob({ spec }).job, aJob({ spec }).job, aJob({ spec, tenant: 'other' }).job];
  for (const job of jobs) await payloads.seal(job);
  for (const job of jobs) {
    expect([...blobs.kept.keys()].filter((key) => key.startsWith(folderOf(job)))).toHaveLength(1);
    expect(ownerOf(`${folderOf(job)}args-1`)).toEqual({ tenant: job.tenant, id: job.id });
  }
});

test('fifty errors that are too large together leave their details behind, and what they are told by stays', async () => {
  const blobs = blobsInMemory();
  const errors = Array.from({ length: 50 }, (_, run) => ({
    ...{ code: 'boom', type: 'BoomError', message: 'It broke.', details: { text: `${run}`.repeat(4_000) } },
    ...{ attempt: run, run, occurredAt: 0 },
  }));
  const job = { ...aJob().job, errors };
  const row = stored(await elsewhere(blobs, 65_536).seal(job));
  expect(JSON.stringify(row).length).toBeLessThan(30_000);
  expect(row.errors.at(-1)).toMatchObject({ code: 'boom', type: 'BoomError', message: 'It broke.' });
  expect((await elsewhere(blobs).open(row)).errors).toEqual(errors);
});

test('a reference leads nowhere but into the folder of its own job', () => {
  for (const name of ['../x/args-1', 'jobs/x', '', 'args-', `args-${'0'.repeat(31)}/`, `ARGS-${'0'.repeat(32)}`]) {
    expect(readReference(referenceTo({ name, bytes: 1 }))).toBeNull();
  }
  expect(readReference(referenceTo({ name: `args-${'0'.repeat(32)}`, bytes: 1 }))).not.toBeNull();
});
