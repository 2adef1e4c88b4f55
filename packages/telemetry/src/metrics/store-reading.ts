import type { QueueStats, Waybill, WorkerInfo } from '@waybill/core';

/** Of one reading: each tenant costs several calls of the store, and each queue one. The next reading goes on with others. */
const MOST_TENANTS = 100;
const MOST_QUEUES = 200;
/** Queues beyond these are not counted at all: the figures of each are kept between the readings. */
const MOST_KNOWN = 10_000;
/** Tenants and queues that are read at the same time. */
const TENANTS_AT_ONCE = 4;
const QUEUES_AT_ONCE = 50;

/** What one tenant has. */
export interface TenantReading {
  tenant: string;
  queues: QueueStats[];
  dead: number;
  workers: WorkerInfo[];
}

export interface StoreReading {
  at: number;
  tenants: TenantReading[];
  /** Undefined: this port does not say. */
  pausedSinks: number | undefined;
}

interface KnownQueue {
  tenant: string;
  name: string;
  /** Null: not read yet. */
  stats: QueueStats | null;
  /** The reading that it comes from. */
  reading: number;
}

interface KnownTenant {
  queues: Map<string, KnownQueue>;
  dead: number;
  workers: WorkerInfo[];
}

/**
 * Reads what is in the store now, a bounded part of it at a time: each reading takes the tenants and queues whose figures are the
 * oldest, and keeps what it knows of the others. So all of them are counted in turn.
 */
export class StoreReader {
  readonly #waybill: Waybill;
  readonly #tenant: string | undefined;
  readonly #known = new Map<string, KnownTenant>();
  /** Where the next page of tenants begins, and those that were seen since the first page. */
  #cursor: string | undefined;
  #seen = new Set<string>();
  #readings = 0;

  /** Of one tenant, or of all. */
  constructor(waybill: Waybill, tenant: string | undefined) {
    this.#waybill = waybill;
    this.#tenant = tenant;
  }

  async read(now: () => number): Promise<StoreReading> {
    this.#readings += 1;
    const names = this.#tenant === undefined ? await this.#nextTenants() : [this.#tenant];
    await this.#readTenants(names);
    await this.#readQueues();
    const pausedSinks = await pausedSinksOf(this.#waybill);
    const tenants = [...this.#known].map(([tenant, { queues, ...found }]) => ({
      ...{ tenant, ...found },
      queues: [...queues.values()].flatMap(({ stats }) => stats ?? []),
    }));
    return { at: now(), tenants, pausedSinks };
  }

  /** The one without a name is always among them, so that an empty store shows zeros. */
  async #nextTenants(): Promise<string[]> {
    try {
      const from = this.#cursor === undefined ? {} : { cursor: this.#cursor };
      const { items, cursor } = await this.#waybill.tenants.list({ limit: MOST_TENANTS, ...from });
      const names = [...new Set(['', ...items.map(({ tenant }) => tenant)])];
      for (const name of names) this.#seen.add(name);
      this.#cursor = cursor;
      if (cursor === undefined) this.#forgetUnseen();
      return names;
    } catch (error) {
      // A client whose key belongs to a tenant: the port is about that one.
      if ((error as { code?: unknown }).code === 'forbidden') return [''];
      throw error;
    }
  }

  /** All pages were read: a tenant that was on none of them is gone. */
  #forgetUnseen(): void {
    for (const tenant of this.#known.keys()) if (!this.#seen.has(tenant)) this.#known.delete(tenant);
    this.#seen = new Set();
  }

  /** Where one cannot be read, its figures stay, and those of others do not wait for it. */
  async #readTenants(names: readonly string[]): Promise<void> {
    const results = await inTurns(names, TENANTS_AT_ONCE, (name) => this.#readTenant(name));
    const failed = results.filter((one) => one.status === 'rejected');
    if (failed.length === results.length) throw failed[0]!.reason;
  }

  async #readTenant(tenant: string): Promise<void> {
    const { queues, deadLetters, workers } = this.#waybill;
    const [listed, { total }, seen] = await Promise.all([
      queues.list({ tenant }),
      deadLetters.stats({ tenant }),
      workers.list({ tenant }),
    ]);
    const before = this.#known.get(tenant)?.queues;
    let room = MOST_KNOWN - this.#countKnown();
    const own = new Map<string, KnownQueue>();
    for (const { name } of listed) {
      const known = before?.get(name);
      if (known === undefined && room <= 0) continue;
      if (known === undefined) room -= 1;
      own.set(name, known ?? { tenant, name, stats: null, reading: 0 });
    }
    this.#known.set(tenant, { queues: own, dead: total, workers: seen });
  }

  #countKnown(): number {
    let count = 0;
    for (const { queues } of this.#known.values()) count += queues.size;
    return count;
  }

  async #readQueues(): Promise<void> {
    const all = [...this.#known.values()].flatMap(({ queues }) => [...queues.values()]);
    const oldest = all.sort((one, other) => one.reading - other.reading).slice(0, MOST_QUEUES);
    await inTurns(oldest, QUEUES_AT_ONCE, async (queue) => {
      const { tenant, name } = queue;
      queue.reading = this.#readings;
      // One that was removed in between has nothing to show.
      queue.stats = await this.#waybill.queues.stats(name, { tenant }).catch(() => null);
    });
  }
}

async function inTurns<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<PromiseSettledResult<R>[]> {
  const results: PromiseSettledResult<R>[] = [];
  for (let from = 0; from < items.length; from += atOnce)
    results.push(...(await Promise.allSettled(items.slice(from, from + atOnce).map(work))));
  return results;
}

async function pausedSinksOf(waybill: Waybill): Promise<number | undefined> {
  if (waybill.sinks === undefined) return undefined;
  const { sinks = [] } = await waybill.health();
  return sinks.filter(({ status }) => status === 'paused').length;
}
