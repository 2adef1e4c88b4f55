import type { ApplyAnswer, Change } from '../store/apply.ts';
import type { InsertAnswer, InsertGroup } from '../store/insert.ts';
import type { WriteOptions } from '../store/lock-held.ts';
import type { Store } from '../store/store.ts';
import { GroupCommit } from './group-commit.ts';
import { groupSize } from './group-size.ts';

/** A flush waits no longer than this for what another transaction holds: others are in it. */
export const LOCK_WAIT: WriteOptions = { lockWaitMs: 200 };

interface Flushes {
  insert(groups: readonly InsertGroup[]): Promise<InsertAnswer[]>;
  apply(changes: readonly Change[], options?: WriteOptions): Promise<ApplyAnswer[]>;
}

/**
 * The group commits of a writer. Where a caller's transaction may hold a key (`Store.within`), what needs keys has lanes of
 * its own: plain jobs neither wait with it nor are tried again because of it. Elsewhere all share one lane.
 */
export class WriteLanes {
  readonly #inserts: GroupCommit<InsertGroup, InsertAnswer>;
  readonly #applies: GroupCommit<Change, ApplyAnswer>;
  readonly #keyedInserts: GroupCommit<InsertGroup, InsertAnswer> | null = null;
  readonly #keyedApplies: GroupCommit<Change, ApplyAnswer> | null = null;

  constructor(store: Store, { insert, apply }: Flushes) {
    const { maxBatch: maxItems, parallelFlushes: parallel } = store.capabilities;
    const bounds = { maxItems, parallel };
    this.#inserts = new GroupCommit({ ...bounds, flush: insert, sizeOf: groupSize });
    this.#applies = new GroupCommit({ ...bounds, flush: (changes) => apply(changes) });
    if (!store.within) return;
    const insertKeyed = (groups: readonly InsertGroup[]) => store.insert(groups, LOCK_WAIT);
    this.#keyedInserts = new GroupCommit({ ...bounds, flush: insertKeyed, sizeOf: groupSize, keysOf: insertKeys });
    this.#keyedApplies = new GroupCommit({
      ...bounds,
      flush: (changes) => apply(changes, LOCK_WAIT),
      keysOf: applyKeys,
    });
  }

  insert(group: InsertGroup): Promise<InsertAnswer> {
    const lane = this.#keyedInserts && needsKeys(group) ? this.#keyedInserts : this.#inserts;
    return lane.run(group);
  }

  apply(change: Change): Promise<ApplyAnswer> {
    const isKeyed = this.#keyedApplies !== null && (change.job.limitKey !== null || change.ownsKey === true);
    return (isKeyed ? this.#keyedApplies! : this.#applies).run(change);
  }

  async idle(): Promise<void> {
    const lanes = [this.#inserts, this.#applies, this.#keyedInserts, this.#keyedApplies];
    await Promise.all(lanes.map((lane) => lane?.idle()));
  }
}

const needsKeys = ({ jobs, workflow }: InsertGroup): boolean =>
  workflow !== undefined ||
  jobs.some(({ job, unique }) => job.idempotencyKey !== null || job.limitKey !== null || unique !== undefined);

function* insertKeys({ jobs, workflow }: InsertGroup): Generator<string> {
  for (const { job, unique } of jobs) {
    const { tenant, idempotencyKey, limitKey } = job;
    if (idempotencyKey !== null) yield `i\n${tenant}\n${idempotencyKey}`;
    if (limitKey !== null) yield limitName(tenant, limitKey);
    if (unique) yield uniqueName(tenant, unique.key);
    const replaced = unique?.replace?.job;
    if (replaced && replaced.limitKey !== null) yield limitName(replaced.tenant, replaced.limitKey);
  }
  if (workflow && 'join' in workflow) yield `w\n${jobs[0]?.job.tenant ?? ''}\n${workflow.join}`;
}

function* applyKeys({ job, ownsKey }: Change): Generator<string> {
  if (job.limitKey !== null) yield limitName(job.tenant, job.limitKey);
  if (ownsKey && job.uniqueKey !== null) yield uniqueName(job.tenant, job.uniqueKey);
}

const limitName = (tenant: string, key: string): string => `l\n${tenant}\n${key}`;
const uniqueName = (tenant: string, key: string): string => `u\n${tenant}\n${key}`;
