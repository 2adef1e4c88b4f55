import type { Job } from '../../job/job.ts';
import type { CronRecord } from '../../store/crons.ts';
import type { QueueStats } from '../../store/queues.ts';
import type { StoredRecord } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import type { WorkerInfo } from '../../store/workers.ts';

const PAGE = 500;
/** Rows of a store that finds running jobs by an index: 5,000. Others look through as many rows, whatever their state. */
const MOST_PAGES = 10;
const MOST_QUEUES = 200;
const MOST_SINKS = 200;
/** Counting stops here. */
const MOST_COUNTED = 10_000;

/** What was read, and whether that was all. */
export interface Bounded<T> {
  items: T[];
  isCut: boolean;
}

/** What the checks of one look read of a tenant: each thing once, bounded, and only when a check asks for it. */
export class TenantView {
  readonly tenant: string;
  readonly now: number;
  readonly #store: Store;
  readonly #watched: ReadonlySet<string>;
  #queues: Promise<Bounded<QueueStats>> | undefined;
  #workers: Promise<WorkerInfo[]> | undefined;

  /** `watched`: jobs that are looked at in any case, because there is an incident about each. */
  constructor(store: Store, tenant: string, watched: Iterable<string> = []) {
    this.#store = store;
    this.tenant = tenant;
    this.now = store.clock.now();
    this.#watched = new Set(watched);
  }

  /** Whether this is about a job that is looked at in any case. */
  isWatched(subject: string): boolean {
    return subject.startsWith('job:') && this.#watched.has(subject.slice('job:'.length));
  }

  /** Running jobs that were made before a moment, and those that are watched. */
  async runningBefore(createdBefore: number): Promise<Bounded<Job>> {
    const filter = { tenant: this.tenant, states: ['active'], createdBefore } as const;
    const found = new Map<string, Job>();
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = await this.#store.list({ filter, limit: PAGE, ...(cursor !== undefined && { cursor }) });
      for (const job of page.items) found.set(job.id, job);
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined && pages < MOST_PAGES);
    for (const job of await this.#missed(found)) found.set(job.id, job);
    return { items: [...found.values()], isCut: cursor !== undefined };
  }

  queues(): Promise<Bounded<QueueStats>> {
    this.#queues ??= this.#readQueues();
    return this.#queues;
  }

  workers(): Promise<WorkerInfo[]> {
    this.#workers ??= this.#store.workers.list(this.tenant);
    return this.#workers;
  }

  crons(): Promise<CronRecord[]> {
    return this.#store.crons.list(this.tenant);
  }

  deadLetters(): Promise<number> {
    const filter = { tenant: this.tenant, states: ['discarded'], dead: true } as const;
    return this.#store.count(filter, { atMost: MOST_COUNTED });
  }

  async newestJob(): Promise<Job | undefined> {
    return (await this.#store.list({ filter: { tenant: this.tenant }, limit: 1 })).items[0];
  }

  async sinkStates(kind: string): Promise<Bounded<StoredRecord>> {
    const { items, cursor } = await this.#store.records.list({ tenant: this.tenant, kind, limit: MOST_SINKS });
    return { items, isCut: cursor !== undefined };
  }

  async #missed(found: ReadonlyMap<string, Job>): Promise<Job[]> {
    const keys = [...this.#watched].filter((id) => !found.has(id)).map((id) => ({ tenant: this.tenant, id }));
    const { maxBatch } = this.#store.capabilities;
    const jobs: Job[] = [];
    for (let from = 0; from < keys.length; from += maxBatch) {
      const some = await this.#store.get(keys.slice(from, from + maxBatch));
      jobs.push(...some.filter((job) => job?.state === 'active').map((job) => job!));
    }
    return jobs;
  }

  async #readQueues(): Promise<Bounded<QueueStats>> {
    const names = (await this.#store.queues.list(this.tenant)).map(({ name }) => name);
    const items: QueueStats[] = [];
    for (const name of names.slice(0, MOST_QUEUES)) {
      const stats = await this.#store.queues.stats(this.tenant, name, { atMost: MOST_COUNTED });
      if (stats) items.push(stats);
    }
    return { items, isCut: names.length > MOST_QUEUES };
  }
}
