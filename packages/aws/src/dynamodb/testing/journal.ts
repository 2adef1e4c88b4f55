import type { AppendAnswer, AppendRequest, Job, JournalBatch } from '@waybill/core';
import { aJob, type JobOverrides, type TestClock } from '@waybill/core/testing';
import type { DynamoStore } from '../store.ts';

let claims = 0;

/** Stores a job and claims it. */
export async function started(store: DynamoStore, clock: TestClock, overrides: JobOverrides = {}): Promise<Job> {
  const { job } = aJob({ createdAt: clock.now(), ...overrides });
  const [inserted] = await store.insert([{ jobs: [{ job, events: [] }] }]);
  if (inserted?.status !== 'inserted') throw new Error(`Expected the job to be inserted, but: ${inserted?.status}.`);
  const { tenant, id } = job;
  const lease = { claimId: `journal-${++claims}`, workerId: 'w', leaseMs: 30_000, now: clock.now() };
  const [answer] = await store.claimById({ tenant, ids: [id], ...lease });
  if (answer?.status !== 'claimed') throw new Error(`Expected the job to be claimed, but: ${answer?.status}.`);
  return answer.job;
}

/** Appends the sequences from `first` to `last`; the body tells which they are. */
export async function say(
  store: DynamoStore,
  { tenant, id, run, claimId }: Job,
  [first, last]: readonly [number, number],
  over: Partial<AppendRequest['batch']> = {},
): Promise<AppendAnswer> {
  const now = store.clock.now();
  const times = { firstAt: now, lastAt: now };
  const batch = { first, last, ...times, types: ['output'], body: Buffer.from(`${first}..${last}`), ...over };
  const [answer] = await store.journal.append([{ tenant, id, by: { run, claimId: claimId! }, batch, weight: 10, now }]);
  return answer!;
}

export async function batchesOf(store: DynamoStore, { tenant, id }: Job): Promise<JournalBatch[]> {
  const { batches, more } = await store.journal.read({ tenant, id, limit: 1_000, maxBytes: 10_000_000 });
  if (more) throw new Error('The journal of a test does not fit into one page.');
  return batches;
}

export const textsOf = async (store: DynamoStore, job: Job): Promise<string[]> =>
  (await batchesOf(store, job)).map(({ body }) => Buffer.from(body).toString());
