import { claimed, freeSlots, type Job, type LimitRule, type Window } from '@waybill/core';
import type { Base } from './base.ts';
import { equals } from './conditions.ts';
import { type Item, number, present } from './items.ts';
import { gateKey, queueKey, tenantLimitKey } from './keys.ts';
import { ruleOf, windowOf, windowText } from './limit-items.ts';
import { runName, stillRunning } from './run-names.ts';
import { roomUnder, type TenantItem, type TenantLimited, tenantLimitedOf } from './tenant-gate.ts';
import type { Write } from './writes.ts';

/**
 * What a queue lets through. Runs are noted when they begin and never crossed out by whoever ends them: before a queue
 * counts as full, the rows are asked. So ends cost nothing, and no crash can leave a place taken for ever.
 */
export interface Gate {
  isPaused: boolean;
  isForgetful: boolean;
  shards: number;
  room: number;
  limited: Limited | null;
  /** Where the tenant has a limit too. */
  tenantLimited: TenantLimited | null;
}

interface Limited {
  tenant: string;
  queue: string;
  rule: LimitRule;
  version: number;
  window: Window;
  running: string[];
}

const UNLIMITED = Number.POSITIVE_INFINITY;

/** As they are now: a pause holds for every claim that begins after it was answered. */
export async function readGates(base: Base, tenant: string, queues: readonly string[]): Promise<GateItems> {
  const keys = [tenantLimitKey(tenant), ...queues.map((name) => queueKey(tenant, name))];
  const [tenantItem, ...items] = await base.db.getAll(keys);
  return { tenantItem, items: new Map(queues.map((name, index) => [name, items[index]])) };
}

export interface GateItems {
  tenantItem: Item | undefined;
  items: Map<string, Item | undefined>;
}

export async function gateOf(
  base: Base,
  tenant: string,
  queue: string,
  item: Item | undefined,
  tenantItem: TenantItem,
  now: number,
): Promise<Gate> {
  const shards = base.queues.shardsOf(queue, item);
  const isPaused = item !== undefined && 'pa' in item;
  const isForgetful = item !== undefined && 'kn' in item;
  const rule = item ? ruleOf(item) : null;
  base.queues.noteLimited(tenant, queue, rule !== null);
  base.queues.noteKeep(tenant, queue, item);
  const none = { room: UNLIMITED, limited: null, tenantLimited: null };
  if (isPaused) return { isPaused, isForgetful, shards, ...none };
  const tenantLimited = await tenantLimitedOf(base, tenant, tenantItem);
  const tenantRoom = tenantLimited ? roomUnder(tenantLimited) : UNLIMITED;
  if (rule === null) return { isPaused, isForgetful, shards, room: tenantRoom, limited: null, tenantLimited };
  const found = (await base.db.get(gateKey(tenant, queue))) ?? {};
  const running = await stillRunning(base, tenant, (found['ru'] as readonly string[] | undefined) ?? []);
  const limited = { tenant, queue, rule, version: number(found, 'v') ?? 0, window: windowOf(found), running };
  const room = Math.min(tenantRoom, roomOf(limited, now));
  return { isPaused, isForgetful, shards, room, limited, tenantLimited };
}

function roomOf({ rule, running, window }: Limited, now: number): number {
  // A queue gives nothing out before the claim, so nobody holds a place without running.
  return freeSlots(rule, { holders: running.length, unclaimed: 0, window }, now);
}

/** Goes into the transaction that begins the runs. */
export function startUnder(
  { rule, running, window, version, tenant, queue }: Limited,
  jobs: readonly Job[],
  now: number,
): Write {
  const names = [...running, ...jobs.map(({ id, run }) => runName(id, run))];
  const use = claimed(rule, { holders: running.length, unclaimed: 0, window }, jobs.length, now);
  return gateWrite(tenant, queue, version, names, use.window);
}

export function gateWrite(
  tenant: string,
  queue: string,
  version: number,
  running: readonly string[],
  window: Window,
): Write {
  const item = present({ ...gateKey(tenant, queue), v: version + 1, ru: running, wi: windowText(window) });
  return { put: item, if: equals('v', version === 0 ? null : version) };
}
