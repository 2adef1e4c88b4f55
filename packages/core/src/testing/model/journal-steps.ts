import { expect } from 'vitest';
import type { Job } from '../../job/job.ts';
import { type AppendRequest, BEFORE_ALL, type JournalQuery } from '../../store/journal.ts';
import type { JobKey } from '../../store/query.ts';
import type { Store } from '../../store/store.ts';
import type { AppendPlan, JournalStep } from './journal-plans.ts';
import type { World } from './world.ts';

const PAGE = { limit: 100, maxBytes: 1_000_000 };

/** Does one step to the journals of both stores. A store without journals is spared. */
export async function runJournalStep(world: World, step: JournalStep): Promise<void> {
  if (!world.real.journal) return;
  if (step.do === 'append') return append(world, step.appends);
  const job = world.pick(world.leases, step.lease);
  if (!job) return;
  const { run, after, fromAgoMs, types, limit, maxBytes } = step;
  const query: JournalQuery = {
    ...{ tenant: job.tenant, id: job.id, limit, maxBytes },
    ...(run !== null && { run }),
    ...(after !== null && { after }),
    ...(fromAgoMs !== null && { fromAt: world.now - fromAgoMs }),
    ...(types !== null && { types }),
  };
  await world.both('journal.read', (store) => readAll(store, query));
}

/** Everything that any run has said and that is left, one job after the other. */
export async function compareJournals(world: World): Promise<void> {
  if (!world.real.journal) return;
  for (const key of world.journaled.values()) {
    const batches = await world.both('journal', (store) => readAll(store, { ...key, ...PAGE }));
    let [run, last] = [0, BEFORE_ALL];
    for (const batch of batches) {
      // What is pruned goes from the lower end, so that only the first may have lost the one before it.
      if (batch.run === run) expect(batch.after, 'each batch follows the one before it').toBe(last);
      expect(batch.first).toBeGreaterThan(batch.after);
      ({ run, last } = batch);
    }
  }
}

async function append(world: World, plans: readonly AppendPlan[]): Promise<void> {
  const requests: AppendRequest[] = [];
  for (const plan of plans) {
    const job = world.pick(world.leases, plan.lease);
    if (job) requests.push(await requestOf(world, job, plan));
  }
  for (const { tenant, id } of requests) world.journaled.set(`${tenant}/${id}`, { tenant, id });
  await world.both('journal.append', (store) => store.journal!.append(requests));
}

async function requestOf(world: World, job: Job, plan: AppendPlan): Promise<AppendRequest> {
  const { tenant, id, run, claimId, workerId } = job;
  const { now } = world;
  const first = Math.max(0, (await headOf(world, job)) + plan.from);
  const last = first + plan.count - 1;
  const by = {
    token: { run, claimId: claimId! },
    worker: { workerId: workerId! },
    anyone: 'anyone' as const,
  }[plan.by];
  const body = Buffer.from(`${run}: ${first}..${last}`);
  const times = { firstAt: now - plan.agoMs - 10, lastAt: now - plan.agoMs };
  return {
    ...{ tenant, id, by, weight: plan.weight, now },
    batch: { first, last, ...times, types: plan.types, body },
    ...(plan.atMost !== null && { atMost: plan.atMost }),
  };
}

async function headOf({ model }: World, { tenant, id, run }: Job): Promise<number> {
  const { batches } = await model.journal!.read({ tenant, id, run, ...PAGE });
  return batches.at(-1)?.last ?? BEFORE_ALL;
}

type Batch = { run: number; after: number; first: number; last: number; body: string };

/** All pages. How many batches a page has is left to the store, up to the limit. */
async function readAll(store: Store, query: JobKey & JournalQuery): Promise<Batch[]> {
  const found: Batch[] = [];
  for (let { after } = query; ; ) {
    const { batches, more } = await store.journal!.read({ ...query, ...(after && { after }) });
    expect(batches.length).toBeLessThanOrEqual(query.limit);
    // The kind of array in which bytes come is left to the store.
    found.push(...batches.map((batch) => ({ ...batch, body: Buffer.from(batch.body).toString() })));
    const last = batches.at(-1);
    if (!more) return found;
    expect(last, 'a page before the last has a batch').toBeDefined();
    after = { run: last!.run, sequence: last!.last };
  }
}
