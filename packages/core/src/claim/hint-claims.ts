import { WaybillError } from '../errors.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Delivery, ReceiveRequest, Transport } from '../transport/transport.ts';
import type { Jobs, Lease } from '../waybill.ts';
import { adoptedJob } from './adopted-job.ts';
import { leaseOf } from './lease-of.ts';
import { SafetyNet } from './safety-net.ts';

/** Claims whose answers are kept for a repetition. */
const MAX_REMEMBERED = 1_000;
/** When a foreign message is tried again that could not be stored. */
const ADOPT_AGAIN_MS = 10_000;
/** When one is tried again that is refused and could not be put aside. */
const REFUSED_AGAIN_MS = 900_000;
/** Receives of nothing but useless hints, after which a claim that need not wait looks into the store. */
const USELESS_RECEIVES = 5;

export interface HintClaimParts {
  store: Store;
  transport: Transport;
  logger: Logger;
  /** Gives leases what their runs need besides the rows, and answers those that can be worked on. */
  complete(tenant: string, leases: readonly Lease[]): Promise<Lease[]>;
  /** Makes a row of a message that has none. */
  adopt: Jobs['enqueue'];
  /** Aborted when the engine closes. */
  closing: AbortSignal;
}

/** Delivery -> row -> lease, where the transport delivers hints. */
export class HintClaims {
  readonly #parts: HintClaimParts;
  readonly #net: SafetyNet;
  readonly #remembered = new Map<string, Promise<Lease[]>>();

  constructor(parts: HintClaimParts) {
    this.#parts = parts;
    this.#net = new SafetyNet(parts);
  }

  /** Waits for receives that go on without their claims. */
  idle(): Promise<void> {
    return this.#net.idle();
  }

  /** Other messages would come to a repetition than to the first call, so its answer is kept here for a while. */
  claim(request: ReceiveRequest): Promise<Lease[]> {
    const key = `${request.tenant}\n${request.claim.claimId}`;
    const known = this.#remembered.get(key);
    if (known) return known.then((leases) => leases.map((lease) => ({ ...lease })));
    // Completed before it is remembered: a job that was put off must not come back with the repetition.
    const claimed = this.#claimByHints(request).then((leases) => this.#parts.complete(request.tenant, leases));
    this.#remembered.set(key, claimed);
    if (this.#remembered.size > MAX_REMEMBERED) this.#remembered.delete(this.#remembered.keys().next().value!);
    const forget = () => this.#remembered.delete(key);
    claimed.then((leases) => leases.length === 0 && forget(), forget);
    return claimed;
  }

  /**
   * Until a job was claimed or the time is over. Hints may come whose jobs are gone; they are no answer, and behind them
   * may stand good ones. So even a claim that does not wait takes some more, which also clears them away faster than
   * claims by rank leave new ones, and looks into the store at last.
   */
  async #claimByHints(asked: ReceiveRequest): Promise<Lease[]> {
    const {
      store: { clock },
      closing,
    } = this.#parts;
    const signal = asked.signal ? AbortSignal.any([asked.signal, closing]) : closing;
    const request = { ...asked, signal };
    const until = clock.monotonic() + request.waitMs;
    for (let useless = 0; ; ) {
      const waitMs = Math.max(0, until - clock.monotonic());
      const { deliveries, jobs } = await this.#net.receive({ ...request, waitMs });
      const leases = [...jobs.map((job) => leaseOf(job)), ...(await this.#claimHinted(request, deliveries))];
      if (leases.length > 0 || signal.aborted) return leases;
      if (clock.monotonic() < until) continue;
      if (deliveries.length === 0) return [];
      useless += 1;
      if (useless === USELESS_RECEIVES) return (await this.#net.look(request)).map((job) => leaseOf(job));
    }
  }

  /** Claims what the hints name, and tells the transport which hints are of no more use. */
  async #claimHinted({ tenant, queues, claim }: ReceiveRequest, received: readonly Delivery[]): Promise<Lease[]> {
    if (received.length === 0) return [];
    const { store } = this.#parts;
    const deliveries = await this.#adoptAll(received);
    const ids = deliveries.map(({ jobId }) => jobId);
    const answers = await store.claimById({ tenant, ids, queues, ...claim, now: store.clock.now() });
    const leases = new Map<string, Lease>();
    const useless: Delivery[] = [];
    const foreign: Delivery[] = [];
    const longer: [Delivery, number][] = [];
    deliveries.forEach((delivery, index) => {
      const answer = answers[index]!;
      if (answer.status === 'elsewhere' && isMeantFor(queues, delivery)) foreign.push(delivery);
      // Two hints of one job in one batch are both answered with it; one is enough.
      else if (answer.status !== 'claimed' || leases.has(delivery.jobId)) useless.push(delivery);
      else {
        leases.set(delivery.jobId, leaseOf(answer.job, delivery.receipt));
        const { leaseMs } = answer.job;
        if (leaseMs !== null && leaseMs !== claim.leaseMs) longer.push([delivery, leaseMs]);
      }
    });
    await this.#tidy(useless, longer);
    await Promise.all(
      foreign.map((delivery) => this.#refuse(delivery, `A job of another queue is named ${delivery.jobId}.`)),
    );
    return [...leases.values()];
  }

  /**
   * Whatever a row says but "claimed", its hint is of no more use: finished or unknown, for good; held, not due, parked
   * or paused, the moment at which that ends brings a new one. Kept, it would come again and end in the redrive queue.
   */
  async #tidy(useless: readonly Delivery[], longer: readonly [Delivery, number][]): Promise<void> {
    const { transport, logger } = this.#parts;
    const done = await Promise.allSettled([
      ...useless.map((delivery) => transport.ack(delivery)),
      ...longer.map(([delivery, ms]) => transport.extend(delivery, ms)),
    ]);
    for (const one of done) {
      if (one.status === 'fulfilled') continue;
      logger.warn({ err: one.reason }, 'A message was not deleted or prolonged; the row makes it harmless.');
    }
  }

  /** Messages of foreign producers become rows, each once however often it is delivered. */
  async #adoptAll(deliveries: readonly Delivery[]): Promise<Delivery[]> {
    const adopted = await Promise.all(deliveries.map((delivery) => this.#adopt(delivery)));
    return adopted.filter((delivery) => delivery !== null);
  }

  async #adopt(delivery: Delivery): Promise<Delivery | null> {
    const { jobId, queue, adopt: request } = delivery;
    if (!request) return delivery;
    const { adopt, transport, logger } = this.#parts;
    try {
      return { ...delivery, jobId: await adoptedJob(adopt, delivery, request) };
    } catch (error) {
      logger.warn({ err: error, queue, message: jobId }, 'A foreign message could not be made a job.');
      // What is refused now is refused for ever; what only failed is delivered again.
      const isRefused = error instanceof WaybillError && !error.retryable;
      if (isRefused) await this.#refuse(delivery, error.message);
      else await this.#telling(delivery, () => transport.release(delivery, ADOPT_AGAIN_MS));
      return null;
    }
  }

  /** What cannot be put aside comes again, after a pause that lets its transport do something about it. */
  #refuse(delivery: Delivery, reason: string): Promise<void> {
    const { transport } = this.#parts;
    return this.#telling(delivery, async () => {
      try {
        await (transport.putAside?.(delivery, reason) ?? transport.ack(delivery));
      } catch (error) {
        await transport.release(delivery, REFUSED_AGAIN_MS);
        throw error;
      }
    });
  }

  async #telling({ queue, jobId }: Delivery, work: () => Promise<void>): Promise<void> {
    await work().catch((reason: unknown) => {
      const told = { err: reason, queue, message: jobId };
      this.#parts.logger.warn(told, 'A foreign message could not be put aside or given back.');
    });
  }
}

/** The foreign message wants a job in these queues. Another `adopt` may have made one elsewhere on purpose. */
const isMeantFor = (queues: readonly string[], { adopt }: Delivery): boolean =>
  adopt !== undefined && queues.includes(adopt.options?.queue ?? 'default');
