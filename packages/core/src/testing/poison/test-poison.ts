import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { engine } from '../../engine.ts';
import { silentLogger } from '../../logger.ts';
import type { Lease } from '../../waybill.ts';
import { temporaryBlobs } from '../offloaded.ts';
import type { StoreFactory } from '../store/bench.ts';
import { type Ground, POISON_NAMES, POISONS, type Poison } from './poisons.ts';

const TENANTS = ['', 'acme'];
const QUEUES = ['default', 'mail', 'bulk'];
/** Sweep and prune sleep: the engine has done what there was to do. */
const LOOPS = 2;
/** What an ordinary job of these may take, its retries and leases that ran out included. */
const IN_TIME_S = 90;
const LEASE_MS = 5_000;
const BLOBS_FROM_BYTES = 1_000;
/** What keeps failing for as long as nobody mends it. */
const NAMED_BY_HEALTH: ReadonlySet<Poison> = new Set([
  'a row that cannot be read and is ready',
  'a row that cannot be read and is due later',
  'a row that was leased to somebody and cannot be read since',
  'a cron that cannot be read',
  'a cron whose job cannot be made',
  'a workflow whose callback cannot be made',
]);

export interface PoisonOptions {
  /** Ordinary jobs beside the poison. @defaultValue 1_000 */
  jobs?: number;
  /** Random plans to try; each needs a fresh store. @defaultValue 3 */
  runs?: number;
}

interface Planted {
  poison: Poison;
  tenant: number;
  queue: number;
  /** Before which of the ordinary jobs. */
  before: number;
}

/** Whatever is planted beside them, ordinary jobs are finished in time and health names what fails. */
export function testPoison(name: string, factory: StoreFactory, { jobs = 1_000, runs = 3 }: PoisonOptions = {}): void {
  const anyPlanted: fc.Arbitrary<Planted[]> = fc.array(
    fc.record({
      poison: fc.constantFrom(...POISON_NAMES),
      tenant: fc.nat(TENANTS.length - 1),
      queue: fc.nat(QUEUES.length - 1),
      before: fc.nat(jobs - 1),
    }),
    { minLength: 5, maxLength: 25 },
  );

  describe(`${name} with poison in it`, () => {
    // fault: rows damaged from outside, callbacks that cannot be made, lost blobs, times of no number
    it(`guarantee 12: ${jobs} ordinary jobs are finished in time`, { timeout: 300_000 }, async () => {
      const history = fc.asyncProperty(anyPlanted, (planted) => live(factory, jobs, planted));
      await fc.assert(history, { numRuns: runs, endOnFailure: true });
    });
  });
}

async function live(factory: StoreFactory, jobs: number, planted: readonly Planted[]): Promise<void> {
  const [{ store, clock, damage, close }, { blobs, remove }] = await Promise.all([factory(), temporaryBlobs()]);
  const waybill = engine({
    store,
    logger: silentLogger,
    blobs: { store: blobs, threshold: BLOBS_FROM_BYTES },
  });
  try {
    const ground: Ground = { waybill, clock, blobs, ...(damage && { damage }) };
    const ordinary = new Ordinary(ground, jobs);
    for (let n = 0; n < jobs; n += ordinary.perCall) {
      for (const [index, { poison, tenant, queue, before }] of planted.entries()) {
        if (before < n || before >= n + ordinary.perCall) continue;
        const spot = { tenant: TENANTS[tenant]!, queue: QUEUES[queue]!, name: `p${index}` };
        await POISONS[poison](ground, spot);
      }
      await ordinary.enqueue(n);
    }
    for (let second = 0; second < IN_TIME_S; second += 1) {
      await ordinary.work();
      await clock.whenSleeping(LOOPS);
      await clock.advance(1_000);
    }
    expect(ordinary.unfinished).toEqual([]);
    const named = planted.filter(({ poison }) => damage && NAMED_BY_HEALTH.has(poison));
    const { failing = 0 } = (await waybill.health()).maintenance ?? {};
    expect(failing).toBeGreaterThanOrEqual(named.length);
  } finally {
    await waybill.close();
    await close();
    await remove();
  }
}

/** Jobs of every plain kind, and workers that now and then fail, snooze or die. */
class Ordinary {
  readonly perCall = 50;
  readonly #ground: Ground;
  readonly #count: number;
  readonly #open = new Map<string, string>();
  readonly #seen = new Set<string>();

  constructor(ground: Ground, count: number) {
    this.#ground = ground;
    this.#count = count;
  }

  get unfinished(): string[] {
    return [...this.#open.values()];
  }

  async enqueue(from: number): Promise<void> {
    const { waybill } = this.#ground;
    for (const [index, tenant] of TENANTS.entries()) {
      const numbers = Array.from({ length: this.perCall }, (_, n) => from + n).filter(
        (n) => n < this.#count && n % TENANTS.length === index,
      );
      if (numbers.length === 0) continue;
      const answers = await waybill.jobs.enqueueMany(numbers.map(ordinaryJob), { tenant });
      for (const [place, job] of answers.entries()) this.#open.set(job.id, `${numbers[place]} of '${tenant}'`);
    }
  }

  /** Claims whatever is there, until there is nothing. */
  async work(): Promise<void> {
    for (const tenant of TENANTS) {
      for (;;) {
        const call = { queues: QUEUES, tenant, count: 100, leaseMs: LEASE_MS };
        const leases = await this.#ground.waybill.jobs.claim(call);
        if (leases.length === 0) break;
        await Promise.all(leases.map((lease) => this.#run(tenant, lease)));
      }
    }
  }

  async #run(tenant: string, { job, token: leaseToken }: Lease): Promise<void> {
    const { waybill } = this.#ground;
    const isFirst = !this.#seen.has(job.id);
    this.#seen.add(job.id);
    const kind = isFirst && this.#open.has(job.id) ? job.spec.args[0] : 'completes';
    if (kind === 'dies') return;
    const outcome =
      kind === 'fails'
        ? ({ kind: 'failed', error: { code: 'boom', message: '' } } as const)
        : ({ kind: 'completed', result: null } as const);
    await waybill.jobs.settle({ id: job.id, leaseToken, outcome, tenant });
    if (outcome.kind === 'completed') this.#open.delete(job.id);
  }
}

const KINDS = ['completes', 'fails', 'completes', 'dies', 'completes', 'late'];

const ordinaryJob = (n: number) => {
  const kind = KINDS[n % KINDS.length]!;
  return {
    type: 'test.ordinary',
    args: [kind],
    options: {
      queue: QUEUES[n % QUEUES.length]!,
      retry: { initial_interval: 'PT2S', max_attempts: 3 },
      ...(kind === 'late' && { scheduled_at: `+PT${1 + (n % 30)}S` }),
    },
  };
};
