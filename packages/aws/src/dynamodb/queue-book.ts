import type { Job } from '@waybill/core';
import { absent, any, less } from './conditions.ts';
import { type Database, inParallel } from './database.ts';
import { type Item, number } from './items.ts';
import { queueKey } from './keys.ts';
import type { Settings } from './settings.ts';

/** What this process knows of queues, so that it need not ask for each job. */
export class QueueBook {
  readonly #db: Database;
  readonly #settings: Settings;
  readonly #known = new Set<string>();
  readonly #limited = new Set<string>();

  constructor(db: Database, settings: Settings) {
    this.#db = db;
    this.#settings = settings;
  }

  /** Sees to it that the queues of these jobs are listed, with as many shards as this process uses. */
  async note(jobs: readonly Pick<Job, 'tenant' | 'queue'>[]): Promise<void> {
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
