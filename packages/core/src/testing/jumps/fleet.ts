import { engine } from '../../engine.ts';
import type { JobOptions } from '../../enqueue/envelope.ts';
import { WaybillError } from '../../errors.ts';
import { silentLogger } from '../../logger.ts';
import type { Lease, Waybill } from '../../waybill.ts';
import { type FaultyStore, faultyStore } from '../faulty-store.ts';
import type { StoreUnderTest } from '../store/bench.ts';
import { SkewedClock } from './skewed-clock.ts';

export const LEASE_MS = 30_000;
const WORKER = 'worker-1';
const QUEUES = ['default', 'ticks'];

/** Two servers on one store, and a worker that talks to either; its heartbeats are always in time. */
export class Fleet {
  readonly clock: StoreUnderTest['clock'];
  readonly completed = new Map<string, number>();
  readonly enqueued: string[] = [];
  /** Runs whose worker lives, and which were lost all the same. */
  readonly lost: string[] = [];
  /** Of the second server alone. */
  readonly #skewed: SkewedClock;
  readonly #stores: FaultyStore[];
  readonly #servers: Waybill[];
  #latest = 0;
  readonly #held = new Map<string, Lease>();

  constructor({ store, clock }: StoreUnderTest) {
    this.clock = clock;
    this.#skewed = new SkewedClock(clock);
    // The test closes the store; a server closes its own end only.
    const shared = () => ({ ...faultyStore(store, []), close: async () => {} });
    this.#stores = [shared(), { ...shared(), clock: this.#skewed }];
    this.#servers = this.#stores.map((one) => engine({ store: one, logger: silentLogger }));
  }

  /** Somebody sets the clocks of all servers, or that of the second one. */
  jump(who: 'all' | 'one', ms: number): void {
    this.#latest = Math.max(this.#latest, this.#skewed.now(), this.clock.now());
    if (who === 'all') this.clock.jump(ms);
    else this.#skewed.jump(ms);
    this.#latest = Math.max(this.#latest, this.#skewed.now(), this.clock.now());
  }

  /** All clocks show the same, and a later time than any has shown so far. */
  agree(): void {
    const now = Math.max(this.#latest, this.#skewed.now(), this.clock.now()) + LEASE_MS;
    this.#skewed.jump(this.clock.now() - this.#skewed.now());
    this.clock.jump(now - this.clock.now());
  }

  server(n: number): Waybill {
    return this.#servers[n]!;
  }

  /** Looks of both sweeps so far. */
  get sweeps(): number {
    return this.#stores.reduce((sum, store) => sum + store.calls('due'), 0);
  }

  async enqueue(n: number, options: JobOptions): Promise<void> {
    const { job } = await this.server(n).jobs.enqueue({ type: 'test.job', args: [], options });
    this.enqueued.push(job.id);
  }

  async claim(n: number, count: number): Promise<void> {
    const leases = await this.server(n).jobs.claim({ queues: QUEUES, count, workerId: WORKER, leaseMs: LEASE_MS });
    for (const lease of leases) this.#held.set(lease.job.id, lease);
  }

  async beat(n: number): Promise<void> {
    const jobs = [...this.#held.values()].map(({ job, token }) => ({ id: job.id, leaseToken: token }));
    if (jobs.length === 0) return;
    const { lost } = await this.server(n).jobs.heartbeat({ workerId: WORKER, jobs });
    for (const id of lost) this.#lose(id);
  }

  /** The oldest of those that are held. */
  async settleSome(n: number, count: number): Promise<void> {
    for (const { job, token } of [...this.#held.values()].slice(0, count)) {
      try {
        const outcome = { kind: 'completed', result: null } as const;
        await this.server(n).jobs.settle({ id: job.id, leaseToken: token, outcome });
        this.completed.set(job.id, (this.completed.get(job.id) ?? 0) + 1);
        this.#held.delete(job.id);
      } catch (error) {
        if (!(error instanceof WaybillError && error.code === 'lease_lost')) throw error;
        this.#lose(job.id);
      }
    }
  }

  /** A worker dies: nobody speaks for its runs any more. */
  forgetSome(count: number): void {
    for (const id of [...this.#held.keys()].slice(0, count)) this.#held.delete(id);
  }

  /** Time passes in steps that no heartbeat misses. */
  async pass(n: number, ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= BEAT_MS) {
      await this.rest();
      await this.clock.advance(Math.min(left, BEAT_MS));
      await this.beat(n);
    }
    await this.rest();
  }

  /** Until the loops of both servers sleep. */
  async rest(): Promise<void> {
    await this.clock.whenSleeping(LOOPS);
  }

  async close(): Promise<void> {
    await Promise.all(this.#servers.map((server) => server.close()));
  }

  #lose(id: string): void {
    this.lost.push(id);
    this.#held.delete(id);
  }
}

const BEAT_MS = 10_000;
/** Sweep and prune of two servers. */
const LOOPS = 4;
