import { type Clock, type Jobs, type Lease, type Logger, systemClock } from '@waybill/core';

const REASON = { code: 'undelivered', message: 'The answer to the claim did not reach its worker.' };

/** What was claimed for one request, and what became of the answer. */
export interface AnsweredClaim {
  jobs: Jobs;
  leases: readonly Lease[];
  isDelivered: Promise<boolean>;
}

/** A request that its client has given up may arrive this much later than the repetition that was answered. */
const REMEMBERED_MS = 60_000;
/** Bounds what is remembered where many claims end in that time. */
const MOST_REMEMBERED = 10_000;

/** All requests under way that have the same claim id: each of them is answered the same jobs. */
interface Repeated {
  requests: number;
  /** Leases that reached the client by one of the requests. */
  delivered: Set<string>;
  undelivered: Map<string, Lease>;
  /** A repetition waits for this, because it would be answered leases that are about to end. */
  givingBack?: Promise<void>;
}

/**
 * Gives back the jobs of claims whose answer was not delivered: no worker knows of these leases, so the jobs would wait
 * until they run out. A client that named a claim id may ask again meanwhile; then the last of its requests decides. What one
 * of them has delivered is not given back by another one that comes late.
 */
export class UndeliveredClaims {
  readonly #logger: Logger;
  readonly #clock: Clock;
  readonly #repeated = new Map<string, Repeated>();
  /** When a claim was delivered, by its key; the oldest first. */
  readonly #deliveredAt = new Map<string, number>();

  constructor(logger: Logger, clock: Clock = systemClock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Announces a claim that the client can repeat by this key. Each must be followed by `answered` or `failed`. */
  async begin(key: string): Promise<void> {
    for (let known = this.#repeated.get(key); known?.givingBack; known = this.#repeated.get(key))
      await known.givingBack;
    const repeated = this.#repeated.get(key) ?? { requests: 0, delivered: new Set(), undelivered: new Map() };
    repeated.requests += 1;
    this.#repeated.set(key, repeated);
  }

  failed(key: string | undefined, jobs: Jobs): Promise<void> {
    return this.answered(key, { jobs, leases: [], isDelivered: Promise.resolve(true) });
  }

  /** Resolves once the answer is over and what was not delivered is given back. It never rejects. */
  async answered(key: string | undefined, { jobs, leases, isDelivered }: AnsweredClaim): Promise<void> {
    const wasDelivered = leases.length === 0 || (await isDelivered);
    if (key === undefined) return wasDelivered ? undefined : this.#giveBack(jobs, leases);
    const repeated = this.#repeated.get(key)!;
    for (const lease of leases) {
      if (wasDelivered) repeated.delivered.add(nameOf(lease));
      else repeated.undelivered.set(nameOf(lease), lease);
    }
    repeated.requests -= 1;
    if (repeated.requests > 0) return;
    const lost = [...repeated.undelivered].filter(([name]) => !repeated.delivered.has(name)).map(([, lease]) => lease);
    const isLate = this.#wasDelivered(key);
    if (repeated.delivered.size > 0) this.#remember(key);
    if (lost.length > 0 && !isLate) {
      repeated.givingBack = this.#giveBack(jobs, lost);
      await repeated.givingBack;
    }
    this.#repeated.delete(key);
  }

  #remember(key: string): void {
    const now = this.#clock.monotonic();
    this.#deliveredAt.delete(key);
    this.#deliveredAt.set(key, now);
    for (const [oldest, at] of this.#deliveredAt) {
      if (now - at < REMEMBERED_MS && this.#deliveredAt.size <= MOST_REMEMBERED) break;
      this.#deliveredAt.delete(oldest);
    }
  }

  #wasDelivered(key: string): boolean {
    const at = this.#deliveredAt.get(key);
    return at !== undefined && this.#clock.monotonic() - at < REMEMBERED_MS;
  }

  /** What cannot be given back runs again when its lease ends. */
  async #giveBack(jobs: Jobs, leases: readonly Lease[]): Promise<void> {
    const outcome = { kind: 'requeued', error: REASON } as const;
    const settled = await Promise.allSettled(
      leases.map(({ job, token }) => jobs.settle({ id: job.id, tenant: job.tenant, leaseToken: token, outcome })),
    );
    const failed = settled.filter((one) => one.status === 'rejected');
    if (failed.length === 0) return;
    const facts = { jobs: failed.length, err: failed[0]!.reason };
    this.#logger.warn(
      facts,
      'Could not give back jobs of a claim that was not delivered. They run when their leases end.',
    );
  }
}

/** Jobs of one claim may have the same token. */
const nameOf = ({ job, token }: Lease): string => `${job.id} ${token}`;
