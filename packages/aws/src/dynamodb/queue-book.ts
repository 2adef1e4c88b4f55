import { isForgotten, type Job, type LogEvent } from '@waybill/core';
import { absent, any, less } from './conditions.ts';
import { type Database, inParallel } from './database.ts';
import { type Item, number } from './items.ts';
import { queueKey } from './keys.ts';
import type { Settings } from './settings.ts';

type Place = Pick<Job, 'tenant' | 'queue'>;

const GOOD_FOR_MS = 5000;

/** What is told of a change in a queue that may keep nothing. */
export const toldOf = (events: readonly LogEvent[], isForgetful: boolean): readonly LogEvent[] =>
  isForgetful ? events.filter(({ type }) => !isForgotten(type)) : events;

/** What this process knows of queues, so that it need not ask for each job. */
export class QueueBook {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #known = new Set<string>();
  readonly #limited = new Set<string>();
  readonly #keeps = new Map<string, { isForgetful: boolean; seenAt: number }>();

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
  }

  /** Sees to it that the queues of these jobs are listed, with as many shards as this process uses. */
  async note(jobs: readonly Place[]): Promise<void> {
    const fresh = new Map(jobs.map((job) => [nameOf(job.tenant, job.queue), job]));
    for (const name of fresh.keys()) if (this.#known.has(name)) fresh.delete(name);
    await inParallel([...fresh], async ([name, { tenant, queue }]) => {
      const sh = this.#settings.shardsOf(queue);
      await this.#db.write({
        update: queueKey(tenant, queue),
        change: { set: { sh } },
        if: any(absent(), absent('sh'), less('sh', sh)),
      });
      this.#known.add(name);
    });
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

  /** Whether an end of a run makes room, as far as this process has heard. */
  isLimited = (tenant: string, queue: string): boolean => this.#limited.has(nameOf(tenant, queue));
}

const nameOf = (tenant: string, queue: string): string => JSON.stringify([tenant, queue]);
