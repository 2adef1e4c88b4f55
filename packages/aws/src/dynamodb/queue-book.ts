import { isForgotten, type Job, type LogEvent } from '@waybill/core';
import { absent, any, less } from './conditions.ts';
import { type Database, inParallel } from './database.ts';
import { type Item, number } from './items.ts';
import { idlePartition, queueKey, shardOf } from './keys.ts';
import { type Settings, unusedMsOf } from './settings.ts';

type Place = Pick<Job, 'tenant' | 'queue'>;

const GOOD_FOR_MS = 5000;
const NOTED_FOR_MS = 86_400_000;

/** What is told of a change in a queue that may keep nothing. */
export const toldOf = (events: readonly LogEvent[], isForgetful: boolean): readonly LogEvent[] =>
  isForgetful ? events.filter(({ type }) => !isForgotten(type)) : events;

/** What this process knows of queues, so that it need not ask for each job. */
export class QueueBook {
  readonly #db: Database;
  readonly #settings: Settings;
  /** When this process has last seen to it that the queue is listed. */
  readonly #notedAt = new Map<string, number>();
  readonly #limited = new Set<string>();
  readonly #limitedTenants = new Set<string>();
  readonly #keeps = new Map<string, { isForgetful: boolean; seenAt: number }>();

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
  }

  /**
   * Sees to it that the queues of these jobs are listed, with as many shards as this process uses, and that they stay for as
   * long as the retention says from now on. Once a day for each queue, so that most calls need not write.
   */
  async note(jobs: readonly Place[]): Promise<void> {
    const now = this.#settings.clock.now();
    const fresh = new Map(jobs.map((job) => [nameOf(job.tenant, job.queue), job]));
    for (const name of fresh.keys()) {
      if (Math.abs(now - (this.#notedAt.get(name) ?? Number.NEGATIVE_INFINITY)) < NOTED_FOR_MS) fresh.delete(name);
    }
    await inParallel([...fresh], async ([name, { tenant, queue }]) => {
      const sh = this.#settings.shardsOf(queue);
      const idle = idleFrom(name, now, this.#settings);
      const update = queueKey(tenant, queue);
      const isMore = any(absent(), absent('sh'), less('sh', sh));
      const noted = await this.#db.write({ update, change: { set: { sh, ...idle } }, if: isMore });
      if (!noted.ok) {
        const isLater = any(absent('dn'), less('dn', idle.dn - NOTED_FOR_MS / 2));
        await this.#db.write({ update, change: { set: idle }, if: isLater });
      }
      this.#notedAt.set(name, now);
    });
  }

  /** The queue was removed. */
  forget(tenant: string, queue: string): void {
    this.#notedAt.delete(nameOf(tenant, queue));
  }

  /**
   * Whether the queues of these jobs keep nothing. What this process has seen is good for a few seconds: an old answer
   * keeps a little too much or too little, and asking each time would cost every call.
   */
  async forgetful(jobs: readonly Place[]): Promise<(job: Place) => boolean> {
    const now = performance.now();
    const isKnown = (name: string) => now - (this.#keeps.get(name)?.seenAt ?? Number.NEGATIVE_INFINITY) < GOOD_FOR_MS;
    const asked = [...new Map(jobs.map((job) => [nameOf(job.tenant, job.queue), job]))].filter(
      ([name]) => !isKnown(name),
    );
    if (asked.length > 0) {
      const keys = asked.map(([, { tenant, queue }]) => queueKey(tenant, queue));
      const items = await this.#db.getAll(keys, { strong: false });
      for (const [index, [, { tenant, queue }]] of asked.entries()) this.noteKeep(tenant, queue, items[index]);
    }
    return ({ tenant, queue }) => this.#keeps.get(nameOf(tenant, queue))?.isForgetful ?? false;
  }

  noteKeep(tenant: string, queue: string, item: Item | undefined): void {
    const isForgetful = item !== undefined && 'kn' in item;
    this.#keeps.set(nameOf(tenant, queue), { isForgetful, seenAt: performance.now() });
  }

  /** How many shards of a queue to look into: as many as anybody ever used. */
  shardsOf(queue: string, item: Item | undefined): number {
    return Math.max(this.#settings.shardsOf(queue), (item && number(item, 'sh')) ?? 1);
  }

  noteLimited(tenant: string, queue: string, isLimited: boolean): void {
    if (isLimited) this.#limited.add(nameOf(tenant, queue));
    else this.#limited.delete(nameOf(tenant, queue));
  }

  noteTenantLimited(tenant: string, isLimited: boolean): void {
    if (isLimited) this.#limitedTenants.add(tenant);
    else this.#limitedTenants.delete(tenant);
  }

  /** Whether an end of a run makes room in every queue of the tenant, as far as this process has heard. */
  isTenantLimited = (tenant: string): boolean => this.#limitedTenants.has(tenant);

  /** Whether an end of a run makes room, as far as this process has heard. */
  isLimited = (tenant: string, queue: string): boolean => this.#limited.has(nameOf(tenant, queue));
}

/** When a queue that is used now may go, should nobody use it again: the keys of the index `due`. */
export const idleFrom = (name: string, now: number, settings: Settings): { dp: string; dn: number } => ({
  dp: idlePartition(shardOf(name, settings.dueShards)),
  dn: now + unusedMsOf(settings) + NOTED_FOR_MS,
});

export const nameOf = (tenant: string, queue: string): string => JSON.stringify([tenant, queue]);
