import type { RecordKey, StoredRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import type { Belief, RecordStep } from './record-plans.ts';
import type { World } from './world.ts';

/** Does one step to the records or locks of both stores. */
export async function runRecordStep(world: World, step: RecordStep): Promise<void> {
  switch (step.do) {
    case 'putRecord':
      return putRecord(world, step);
    case 'removeRecord':
      return removeRecord(world, step);
    case 'listRecords': {
      const { tenant, prefix, limit } = step;
      await world.both('records.list', (store) => listAll(store, tenant, prefix, limit));
      return;
    }
    case 'takeLock': {
      const { name, owner, leaseMs } = step;
      const answer = await world.both('locks.take', (store) => store.locks.take({ name, owner, leaseMs }));
      if (answer.status === 'held') world.fences.set(name, answer.fence);
      return;
    }
    case 'releaseLock': {
      const { name, owner, behind } = step;
      const fence = (world.fences.get(name) ?? 0) - behind;
      await world.both('locks.release', (store) => store.locks.release({ name, owner, fence }));
      return;
    }
  }
}

type Of<D extends RecordStep['do']> = Extract<RecordStep, { do: D }>;

const keyOf = ({ tenant, id }: { tenant: string; id: string }): RecordKey => ({ tenant, kind: 'note', id });

/** Versions are the same in both, since they come from the clock and from the versions before. */
async function versionFor(world: World, key: RecordKey, belief: Belief): Promise<number> {
  if (belief === 'none') return 0;
  const [record] = await world.model.records.get([key]);
  if (belief === 'right') return record?.version ?? 0;
  return world.versions.get(JSON.stringify(key)) ?? 1;
}

async function putRecord(world: World, step: Of<'putRecord'>): Promise<void> {
  const key = keyOf(step);
  const expected = await versionFor(world, key, step.belief);
  const expiresAt = step.keepMs === null ? null : world.now + step.keepMs;
  const request = { ...key, value: { at: world.now, expected }, expected, expiresAt };
  const [before] = await world.model.records.get([key]);
  if (before) world.versions.set(JSON.stringify(key), before.version);
  await world.both('records.put', (store) => store.records.put([request]));
  await world.both('records.get', (store) => store.records.get([key]));
}

async function removeRecord(world: World, step: Of<'removeRecord'>): Promise<void> {
  const key = keyOf(step);
  const expected = step.belief === 'any' ? undefined : await versionFor(world, key, step.belief);
  const [before] = await world.model.records.get([key]);
  if (before) world.versions.set(JSON.stringify(key), before.version);
  await world.both('records.remove', (store) => store.records.remove(key, expected));
}

async function listAll(store: Store, tenant: string, prefix: string, limit: number): Promise<StoredRecord[]> {
  const found: StoredRecord[] = [];
  const query = { tenant, kind: 'note', prefix, limit };
  for (let cursor: string | undefined; ; ) {
    const page = await store.records.list({ ...query, ...(cursor !== undefined && { cursor }) });
    found.push(...page.items);
    if (page.cursor === undefined) return found;
    cursor = page.cursor;
  }
}
