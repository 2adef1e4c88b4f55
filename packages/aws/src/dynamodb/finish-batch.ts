import type { Base } from './base.ts';
import { absent, equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { MOST_TRIES, pause, tooContended } from './failures.ts';
import type { Item, Key } from './items.ts';
import { batchKey, jobKey } from './keys.ts';
import { LimitDraft, withSlot } from './limit-draft.ts';
import { changingOf, fromItem, secondsOf } from './rows.ts';
import type { Write } from './writes.ts';

/** A commit outlives everybody who may still be staging for it. */
export const COMMIT_KEPT_MS = 7 * 86_400_000;

/** Puts the rows of a committed group in their places; false when it was not committed. */
export async function finishBatch(base: Base, batch: string): Promise<boolean> {
  const item = await base.db.get(batchKey(batch));
  if (item?.['st'] !== 'committed') return false;
  const ids = (item['ids'] as readonly string[] | undefined) ?? [];
  const tenant = item['t'] as string;
  const rows = await base.db.getAll(ids.map((id) => jobKey(tenant, id)));
  const staged = rows.filter((row) => row?.['bid'] === batch).map((row) => JSON.parse(row!['f'] as string) as Item);
  await inParallel(
    staged.filter((row) => !('lk' in row)),
    (row) => base.db.write({ put: row, if: equals('bid', batch) }),
  );
  // In the order given, which is the order of their places in line.
  for (const row of staged.filter((one) => 'lk' in one)) await placeLimited(base, row, batch);
  // The item itself stays: somebody who still stages for this batch must find that it is over.
  await base.db.write({ update: batchKey(batch), change: { remove: ['ids', 'dp', 'dn'] } });
  return true;
}

async function placeLimited(base: Base, row: Item, batch: string): Promise<void> {
  const job = fromItem({ sp: '{}', ...row });
  for (let round = 0; round < MOST_TRIES; round++) {
    const draft = await LimitDraft.read(base, job.tenant, job.limitKey!);
    draft.move(null, job);
    draft.admit();
    const { writes, entered } = await draft.finish(base, base.settings.clock.now());
    const after = entered.has(job.id) ? withSlot(job) : job;
    const { rq, rk, hs } = changingOf(after, base.settings);
    const slot = Object.fromEntries(Object.entries({ rq, rk, hs }).filter(([, value]) => value !== undefined)) as Item;
    const put: Write = { put: { ...row, ...slot }, if: equals('bid', batch) };
    if (await base.db.transact([put, ...writes])) return;
    const now = await base.db.get(jobKey(job.tenant, job.id));
    if (now?.['bid'] !== batch) return;
    await pause(Math.min(round, 4));
  }
  throw tooContended(`The limit ${job.limitKey}`);
}

/** Frees ids that others have staged and not committed; from then on they cannot commit them. */
export async function clearStaged(base: Base, keys: readonly Key[]): Promise<void> {
  const items = await base.db.getAll(keys);
  const batches = new Set(items.flatMap((item) => (item && 'bid' in item ? [item['bid'] as string] : [])));
  for (const batch of batches) {
    const x = secondsOf(base.settings.clock.now() + COMMIT_KEPT_MS);
    const aborted = await base.db.write({ put: { ...batchKey(batch), st: 'aborted', x }, if: absent() });
    if (!aborted.ok && aborted.old?.['st'] === 'committed') await finishBatch(base, batch);
    else await inParallel(keys, (key) => base.db.write({ delete: key, if: equals('bid', batch) }));
  }
}
