import type { QueueInfo } from '@waybill/core';
import type { Base } from './base.ts';
import { all, begins, equals } from './conditions.ts';
import type { Item } from './items.ts';
import { partsOfKey, queueKey, tenantPk } from './keys.ts';
import { ruleOf } from './limit-items.ts';

/** The queues of a tenant, or those that are named, known or not. */
export async function queueItems(
  { db }: Base,
  tenant: string,
  names?: readonly string[],
): Promise<Map<string, Item | undefined>> {
  if (names) {
    const unique = [...new Set(names)];
    const items = await db.getAll(unique.map((name) => queueKey(tenant, name)));
    return new Map(unique.map((name, index) => [name, items[index]]));
  }
  const items = await db.queryAll({ where: all(equals('pk', tenantPk(tenant)), begins('sk', 'Q#')) });
  return new Map(items.map((item) => [partsOfKey(item)[1], item]));
}

export const infoOf = (tenant: string, name: string, item: Item | undefined): QueueInfo => ({
  tenant,
  name,
  paused: item !== undefined && 'pa' in item,
  keep: item !== undefined && 'kn' in item ? 'none' : 'all',
  limit: item ? ruleOf(item) : null,
});
