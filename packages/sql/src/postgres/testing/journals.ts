import type { AppendAnswer, AppendRequest, Job, JournalBatch, Store } from '@waybill/core';

/** A batch of these sequences for a run, whose body tells which they are. */
export function appendOf(store: Store, job: Job, [first, last]: [number, number]): AppendRequest {
  const { tenant, id, run, claimId } = job;
  const now = store.clock.now();
  const batch = { first, last, firstAt: now, lastAt: now, types: ['output'], body: Buffer.from(`${first}..${last}`) };
  return { tenant, id, by: { run, claimId: claimId! }, batch, weight: 10, now };
}

export async function append(store: Store, job: Job, range: [number, number]): Promise<AppendAnswer> {
  const [answer] = await store.journal!.append([appendOf(store, job, range)]);
  return answer!;
}

export async function readJournal(store: Store, { tenant, id }: Job): Promise<JournalBatch[]> {
  return (await store.journal!.read({ tenant, id, limit: 1_000, maxBytes: 1_000_000 })).batches;
}

/** The sequences that are stored, as `append` wrote them into the bodies. */
export const rangesOf = async (store: Store, job: Job): Promise<string[]> =>
  (await readJournal(store, job)).map(({ body }) => Buffer.from(body).toString());
