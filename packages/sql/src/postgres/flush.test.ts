import { type Job, type Outcome, rankOf, type Store, transition } from '@waybill/core';
import { aJob, type JobOverrides, settleChange } from '@waybill/core/testing';
import { expect, test } from 'vitest';
import { postgresStore } from './store.ts';
import { postgresUrl, tempSchema, tempStore } from './testing/server.ts';
import { claim } from './testing/work.ts';

const ODD = 'two\nlines, "quoted", back\\slash, ä';
const ERROR = { code: 'boom', message: ODD, attempt: 1, run: 1, occurredAt: 5 };

/** Each has something that the others of its flush have not. */
const KINDS: JobOverrides[] = [
  {},
  { type: 'email.send' },
  { priority: 100 },
  { priority: -100 },
  { timeoutMs: 1_000 },
  { visibilityMs: 5_000 },
  { run: 3, attempt: 2, outcome: 'failed', retryDelayMs: 7, errors: [ERROR], claimId: 'earlier', workerId: ODD },
  { idempotencyKey: ODD },
  { uniqueKey: ODD },
  { maxAttempts: 9, enqueuedAt: null },
  { spec: { args: [ODD, null, { deep: [1, 'a,b'] }], meta: { [ODD]: ODD } } },
];

const OUTCOMES: Outcome[] = [
  { kind: 'completed', result: null },
  { kind: 'completed', result: { text: ODD } },
  { kind: 'discarded', error: { code: 'bad', type: ODD, message: ODD }, deadLetter: true },
  { kind: 'cancelled', reason: ODD },
  { kind: 'snoozed', until: 4_000_000_000_000 },
];

async function claimAll(store: Store, kinds: JobOverrides[]): Promise<Job[]> {
  const createdAt = store.clock.now();
  const made = kinds.map((kind) => aJob({ createdAt, ...kind }));
  expect((await store.insert([{ jobs: made }]))[0]).toMatchObject({ status: 'inserted' });
  const lease = { claimId: `claim-${createdAt}-${kinds.length}`, workerId: ODD, leaseMs: 30_000, now: createdAt };
  const jobs = await claim(store, kinds.length, lease);
  const inOrder = made.map(({ job }) => job).sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
  expect(jobs).toEqual(inOrder.map((job) => transition(job, { do: 'claim', ...lease }, lease.now)!.job));
  return jobs;
}

const placeOf = ({ priority, seq }: Job): string => rankOf(priority, seq);

test.each([
  ['that have nothing in common', KINDS],
  ['that are alike', KINDS.map(() => ({ spec: { args: [ODD], meta: {} } }))],
])('jobs of one flush %s are stored, given and ended each as it is', async (_, kinds) => {
  const store = await tempStore(postgresStore, { url: await postgresUrl(), schema: tempSchema(await postgresUrl()) });
  const jobs = await claimAll(store, kinds);
  expect(await store.get(jobs)).toEqual(jobs);
  const changes = jobs.map((job, index) =>
    settleChange(job, OUTCOMES[index % OUTCOMES.length]!, store.clock.now() + index),
  );
  expect((await store.apply(changes)).map(({ status }) => status)).toEqual(jobs.map(() => 'applied'));
  expect(await store.get(jobs)).toEqual(changes.map(({ job }) => job));
  const { events } = await store.events.read({ filter: { tenant: '*' }, limit: 1_000 });
  for (const { job } of changes) {
    const told = events.filter(({ jobId }) => jobId === job.id).map(({ sequence }) => sequence);
    expect(told).toEqual(Array.from({ length: job.version }, (_, index) => index + 1));
  }
});

test('a claim id that was used before answers what it still holds, in order', async () => {
  const store = await tempStore(postgresStore, { url: await postgresUrl(), schema: tempSchema(await postgresUrl()) });
  const jobs = await claimAll(store, KINDS);
  const [first, ...others] = jobs;
  await store.apply([settleChange(first!, { kind: 'completed', result: null }, store.clock.now())]);
  const again = await claim(store, 50, { claimId: first!.claimId!, leaseMs: 1 });
  expect(again).toEqual(others);
});
