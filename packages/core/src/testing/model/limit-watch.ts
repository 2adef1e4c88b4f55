import { expect } from 'vitest';
import type { JobEvent } from '../../events/job-event.ts';
import type { Job } from '../../job/job.ts';
import type { LimitRule } from '../../limits/limit.ts';
import type { LimitInfo } from '../../store/limits.ts';
import type { QueueInfo } from '../../store/queues.ts';
import { RUN_ENDS } from './invariants.ts';

/** What the events tell of one limit: who runs, and when runs began. */
class Use {
  readonly running = new Set<string>();
  starts: number[] = [];
  /** How much was in use when it was last looked at. */
  before = { holders: 0, started: 0 };

  startsSince(moment: number): number {
    return this.starts.filter((at) => at > moment).length;
  }
}

/**
 * Guarantee 7 from the outside: counts by the events and not by what the store says of itself. Use may be beyond a
 * limit only when the limit was lowered under it, so it is compared with what it was before too.
 */
export class LimitWatch {
  readonly #limitOf = new Map<string, string | null>();
  readonly #uses = new Map<string, Use>();
  readonly #rules = new Map<string, LimitRule | null>();

  note({ tenant, id, limitKey }: Job): void {
    const job = `${tenant}/${id}`;
    // An id that comes again is refused, whatever it brings.
    if (this.#limitOf.has(job)) return;
    this.#limitOf.set(job, limitKey === null ? null : `limit ${tenant}/${limitKey}`);
  }

  follow(events: readonly JobEvent[]): void {
    for (const { type, tenant, jobId, queue, at } of events) {
      const job = `${tenant}/${jobId}`;
      const limit = this.#limitOf.get(job);
      const wide = [this.#use(`queue ${tenant}/${queue}`), this.#use(`tenant ${tenant}`)];
      for (const use of [...wide, ...(limit ? [this.#use(limit)] : [])]) {
        if (type === 'job.started') {
          use.running.add(job);
          use.starts.push(at);
        } else if (RUN_ENDS.has(type)) use.running.delete(job);
      }
    }
  }

  /** Slots are given before the claim, so whoever holds one and does not run yet may start at any moment. */
  checkKey({ tenant, key, rule, holders }: LimitInfo, now: number): void {
    const use = this.#use(`limit ${tenant}/${key}`);
    this.#check(use, rule, { holders, unclaimed: holders - use.running.size }, now);
  }

  checkQueue({ tenant, name, limit }: QueueInfo, now: number): void {
    const queue = `queue ${tenant}/${name}`;
    const use = this.#use(queue);
    // A rate counts the starts that it has seen.
    if (limit?.rate && !this.#rules.get(queue)?.rate) use.starts = [];
    this.#rules.set(queue, limit);
    this.#check(use, limit, { holders: use.running.size, unclaimed: 0 }, now);
  }

  setTenant(tenant: string, concurrency: number | null): void {
    this.#rules.set(`tenant ${tenant}`, concurrency === null ? null : { concurrency, rate: null });
  }

  checkTenant(tenant: string, now: number): void {
    const use = this.#use(`tenant ${tenant}`);
    const rule = this.#rules.get(`tenant ${tenant}`) ?? null;
    this.#check(use, rule, { holders: use.running.size, unclaimed: 0 }, now);
  }

  #check(use: Use, rule: LimitRule | null, has: { holders: number; unclaimed: number }, now: number): void {
    expect(has.unclaimed, 'who runs holds a slot').toBeGreaterThanOrEqual(0);
    const started = rule?.rate ? use.startsSince(now - rule.rate.periodMs) + has.unclaimed : 0;
    const { before } = use;
    use.before = { holders: has.holders, started };
    if (rule?.concurrency != null) {
      expect(has.holders, 'guarantee 7: concurrency').toBeLessThanOrEqual(Math.max(rule.concurrency, before.holders));
    }
    if (rule?.rate) {
      expect(started, 'guarantee 7: rate').toBeLessThanOrEqual(Math.max(rule.rate.limit, before.started));
    }
  }

  #use(name: string): Use {
    const use = this.#uses.get(name) ?? new Use();
    this.#uses.set(name, use);
    return use;
  }
}
