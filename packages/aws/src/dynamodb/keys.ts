import { type Item, type Key, keyOf } from './items.ts';

/**
 * One table; the tenant leads every key. `#` parts a key, so inside of a part it is written differently.
 *
 *   J#tenant#id       J             a job's row
 *                     R             what its runs report of themselves
 *                     S..           its large fields
 *                     j<run>#<after> a batch of its journal
 *                     IN#.., OUT#.. its edges as a child and as a parent
 *   T#tenant          Q#name        a queue          C#name   a cron
 *                     W#id          a workflow       H#id     a worker (a helping hand)
 *                     L             how many jobs of the tenant may be active at once
 *   W#tenant#id       N#job         a node of a workflow J#join   a join of one
 *   G#tenant#queue    G             who runs under the limit of a queue
 *   G#tenant          G             who runs under the limit of a tenant
 *   L#tenant#key      L, P#rank#job a limit, and the jobs that wait for it
 *   U#.., I#.., C#..  -             a unique key, an idempotency key, a claim
 *   B#batch           -             the commit of a staged group
 *   R#tenant#kind     id            a record. The id is written as it is, so that ids sort by their bytes
 *   M#name            -             a lock (mutual exclusion)
 *   E#tenant#kind#..  -             how many events there were of a subject that is not a job
 *   LOG               -             how far the log goes
 *   LOG#bucket        position      a segment of the log
 */
const written = (part: string): string => part.replace(/[%#]/g, (sign) => (sign === '#' ? '%23' : '%25'));
const read = (part: string): string => part.replace(/%2[35]/g, (code) => (code === '%23' ? '#' : '%'));

const joined = (kind: string, ...parts: string[]): string => [kind, ...parts.map(written)].join('#');

/** The parts of a key behind its kind. */
export const partsOf = (key: string): string[] => key.split('#').slice(1).map(read);

/** The tenant and the name of an item that stands in its tenant's partition. */
export function partsOfKey(item: Item): [tenant: string, name: string] {
  const { pk, sk } = keyOf(item);
  return [partsOf(pk)[0]!, partsOf(sk)[0]!];
}

const alone = (pk: string): Key => ({ pk, sk: '-' });

export const jobPk = (tenant: string, id: string): string => joined('J', tenant, id);
export const jobKey = (tenant: string, id: string): Key => ({ pk: jobPk(tenant, id), sk: 'J' });
export const sideKey = (pk: string, field: string, tag: string): Key => ({ pk, sk: `S${field}#${tag}` });

export const progressKey = (tenant: string, id: string): Key => ({ pk: jobPk(tenant, id), sk: 'R' });

export const inPrefix = 'IN#';
export const outPrefix = 'OUT#';
const POSITION_DIGITS = 6;
/** By position, since a child sees its parents in the order of its edges. */
export const inKey = (tenant: string, child: string, position: number, parent: string): Key => ({
  pk: jobPk(tenant, child),
  sk: `${inPrefix}${String(position).padStart(POSITION_DIGITS, '0')}#${written(parent)}`,
});
export const outKey = (tenant: string, parent: string, child: string): Key => ({
  pk: jobPk(tenant, parent),
  sk: `${outPrefix}${written(child)}`,
});

export const tenantPk = (tenant: string): string => joined('T', tenant);
export const queueKey = (tenant: string, name: string): Key => ({ pk: tenantPk(tenant), sk: joined('Q', name) });
export const cronKey = (tenant: string, name: string): Key => ({ pk: tenantPk(tenant), sk: joined('C', name) });
export const workflowKey = (tenant: string, id: string): Key => ({ pk: tenantPk(tenant), sk: joined('W', id) });
export const workerKey = (tenant: string, id: string): Key => ({ pk: tenantPk(tenant), sk: joined('H', id) });

export const nodesPk = (tenant: string, workflow: string): string => joined('W', tenant, workflow);
export const nodeKey = (tenant: string, workflow: string, job: string): Key => ({
  pk: nodesPk(tenant, workflow),
  sk: joined('N', job),
});

export const joinKey = (tenant: string, workflow: string, join: string): Key => ({
  pk: nodesPk(tenant, workflow),
  sk: joined('J', join),
});

export const gateKey = (tenant: string, queue: string): Key => ({ pk: joined('G', tenant, queue), sk: 'G' });

export const tenantLimitKey = (tenant: string): Key => ({ pk: tenantPk(tenant), sk: 'L' });
export const tenantGateKey = (tenant: string): Key => ({ pk: joined('G', tenant), sk: 'G' });

export const limitPk = (tenant: string, key: string): string => joined('L', tenant, key);
export const limitKey = (tenant: string, key: string): Key => ({ pk: limitPk(tenant, key), sk: 'L' });
export const parkedKey = (tenant: string, key: string, rank: string, job: string): Key => ({
  pk: limitPk(tenant, key),
  sk: joined('P', rank, job),
});

export const uniqueKey = (tenant: string, key: string): Key => alone(joined('U', tenant, key));
export const idempotencyKey = (tenant: string, key: string): Key => alone(joined('I', tenant, key));
export const claimKey = (tenant: string, claimId: string): Key => alone(joined('C', tenant, claimId));
export const batchKey = (batch: string): Key => alone(joined('B', batch));

export const recordsPk = (tenant: string, kind: string): string => joined('R', tenant, kind);
export const recordKey = ({ tenant, kind, id }: { tenant: string; kind: string; id: string }): Key => ({
  pk: recordsPk(tenant, kind),
  sk: id,
});
export const lockKey = (name: string): Key => alone(joined('M', name));

export const subjectKey = ({ tenant, kind, subject }: { tenant: string; kind: string; subject: string }): Key =>
  alone(joined('E', tenant, kind, subject));

export const headKey: Key = alone('LOG');
const SEGMENTS_PER_BUCKET = 100;
export const POSITIONS = { digits: 15 } as const;
export const bucketOf = (position: number): number => Math.floor(position / SEGMENTS_PER_BUCKET);
export const firstOf = (bucket: number): number => bucket * SEGMENTS_PER_BUCKET;
export const bucketPk = (bucket: number): string => `LOG#${bucket}`;
export const positionSk = (position: number): string => String(position).padStart(POSITIONS.digits, '0');
/** Sorts right behind the segment that it confirms. */
export const confirmSk = (position: number): string => `${positionSk(position)}c`;
export const segmentKey = (position: number): Key => ({ pk: bucketPk(bucketOf(position)), sk: positionSk(position) });
export const confirmKey = (position: number): Key => ({ pk: bucketPk(bucketOf(position)), sk: confirmSk(position) });
/** The segment that the item of this key confirms; null: it is an item of another kind. */
export function confirmedBy({ pk, sk }: Key): number | null {
  const position = Number.parseInt(sk, 10);
  return pk === bucketPk(bucketOf(position)) && sk === confirmSk(position) ? position : null;
}

export const listPartition = (tenant: string, queue: string, shard: number): string => sharded(shard, tenant, queue);
export const readyPartition = (tenant: string, queue: string, shard: number): string => sharded(shard, tenant, queue);
export const duePartition = (shard: number): string => `D${shard}`;
/** Of the same index, for workflows whose nodes are to be removed: nobody waits for these. */
export const prunePartition = (shard: number): string => `W${shard}`;
/** Of the same index, for queues that may go when nobody has used them by then. */
export const idlePartition = (shard: number): string => `Q${shard}`;

/** The first shard has no number: most queues have no other, and every byte is in every index. */
const sharded = (shard: number, tenant: string, queue: string): string =>
  `${written(tenant)}#${written(queue)}${shard === 0 ? '' : `#${shard}`}`;

/** The same for every process, spread evenly. */
export function shardOf(id: string, shards: number): number {
  if (shards === 1) return 0;
  let hash = 2166136261;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 16777619);
  return (hash >>> 0) % shards;
}
