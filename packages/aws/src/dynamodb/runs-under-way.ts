import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { inParallel } from './database.ts';
import { type Item, keyOf, number } from './items.ts';
import { duePartition, partsOf } from './keys.ts';
import { readRows } from './read.ts';
import { stateOf } from './rows.ts';
import { runName } from './run-names.ts';

const PER_PAGE = 100;

/**
 * The runs under way in a queue, or in all queues of the tenant, however many other jobs there are. Each of them has an alarm for the end of its lease, and
 * what has ended has none, so the alarms of the table are walked and not the history of the queue.
 */
export async function runsUnderWay(base: Base, tenant: string, queue: string | null): Promise<string[]> {
  const shards = Array.from({ length: base.settings.dueShards }, (_, shard) => duePartition(shard));
  const found = await inParallel(shards, (shard) => runsIn(base, shard, tenant, queue));
  return found.flat();
}

async function runsIn(base: Base, shard: string, tenant: string, queue: string | null): Promise<string[]> {
  const names: string[] = [];
  let after: Item | undefined;
  do {
    const page = await base.db.query({
      ...{ index: 'due', where: equals('dp', shard), limit: PER_PAGE },
      ...(after && { after }),
    });
    const keys = page.items.map(keyOf).filter(({ pk, sk }) => sk === 'J' && partsOf(pk)[0] === tenant);
    for (const row of await readRows(base, keys)) {
      if (!row || (queue !== null && row['q'] !== queue) || stateOf(row) !== 'active') continue;
      names.push(runName(partsOf(keyOf(row).pk)[1]!, number(row, 'rn') ?? 0));
    }
    after = page.last;
  } while (after);
  return names;
}
