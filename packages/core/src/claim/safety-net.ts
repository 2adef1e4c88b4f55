import type { Job } from '../job/job.ts';
import type { Logger } from '../logger.ts';
import type { Store } from '../store/store.ts';
import type { Delivery, ReceiveRequest, Transport } from '../transport/transport.ts';

/** How long a closing engine waits for receives that it has called off. */
const CLOSE_WITHIN_MS = 5_000;

/** How long a queue is left alone after a look that found nothing. */
const LOOK_EVERY_MS = 1_000;

export interface SafetyNetParts {
  store: Store;
  transport: Transport;
  logger: Logger;
  /** Aborted when the engine closes. */
  closing: AbortSignal;
}

/** How a receive ended. */
interface Receive {
  deliveries: readonly Delivery[];
  error?: unknown;
}

export interface Caught {
  /** Hints, still to be claimed by id. */
  deliveries: readonly Delivery[];
  /** Jobs that were claimed by rank, since no hint came. */
  jobs: readonly Job[];
}

/**
 * Receives hints, and looks into the store itself when none come: a lost hint then costs a second, not a job. A look
 * that finds something is followed by the next at once, so that a queue whose hints are all gone is worked off at full
 * speed. So is one after the store told that it has something new: whoever enqueues and then fetches finds the job, though
 * its hint is still on its way. Where hints come in time nobody looks.
 */
export class SafetyNet {
  readonly #store: Store;
  readonly #transport: Transport;
  readonly #logger: Logger;
  readonly #canLook: boolean;
  /** When a queue was last looked at in vain, by its name and then by tenant: wake-ups name no tenants. */
  readonly #vain = new Map<string, Map<string, number>>();
  readonly #closing: AbortSignal;
  /** Receives whose caller has gone on without them, and what gives their deliveries back. */
  readonly #late = new Set<Promise<void>>();
  #isListening = false;

  constructor({ store, transport, logger, closing }: SafetyNetParts) {
    this.#store = store;
    this.#transport = transport;
    this.#logger = logger;
    this.#closing = closing;
    this.#canLook = (store.capabilities.claimsByRank ?? true) && (transport.capabilities.hasSafetyNet ?? true);
  }

  /**
   * Jobs that a look has claimed are answered at once, and so is a caller who gives up: their leases run, and the
   * receive beside them may hang. It is called off, and what it still brings is given back in the background.
   */
  async receive(request: ReceiveRequest): Promise<Caught> {
    const ended = new AbortController();
    const calledOff = new AbortController();
    const signal = request.signal ? AbortSignal.any([request.signal, calledOff.signal]) : calledOff.signal;
    const receiving = this.#hints({ ...request, signal }).then(
      (deliveries): Receive => ({ deliveries }),
      (error: unknown): Receive => ({ deliveries: [], error }),
    );
    const callOff = () => {
      calledOff.abort();
      this.#giveBackLate(receiving);
    };
    const looking = this.#lookMeanwhile(request, ended.signal);
    const isOver = looking.then((jobs) => jobs.length > 0 || request.signal?.aborted === true);
    try {
      await Promise.race([receiving, isOver.then((over) => (over ? null : receiving))]);
      ended.abort();
      const jobs = await looking;
      if (jobs.length > 0 || request.signal?.aborted) {
        callOff();
        return { deliveries: [], jobs };
      }
    } catch (error) {
      callOff();
      throw error;
    }
    const { deliveries, error } = await receiving;
    if (deliveries.length > 0) return { deliveries, jobs: [] };
    const jobs = await this.look(request);
    // While the store has jobs, a queue that is away costs speed only.
    if (jobs.length === 0 && error !== undefined) throw error;
    return { deliveries: [], jobs };
  }

  /** What comes for nobody is given back. If that fails the transport brings it again by itself, only later. */
  #giveBackLate(receiving: Promise<Receive>): void {
    const givenBack = receiving.then(async ({ deliveries, error }) => {
      if (error !== undefined) {
        this.#logger.warn({ err: error }, 'A receive failed after its claim had been answered.');
      }
      const ends = await Promise.allSettled(deliveries.map((one) => this.#transport.release(one, 0)));
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed) this.#logger.warn({ err: failed.reason }, 'Hints that came too late could not be given back.');
    });
    this.#late.add(givenBack);
    void givenBack.finally(() => this.#late.delete(givenBack));
  }

  /** Waits for what goes on in the background, but not for ever: a receive that ignores its signal may never end. */
  async idle(): Promise<void> {
    if (this.#late.size === 0) return;
    const ended = new AbortController();
    const all = Promise.allSettled(this.#late).then(() => ended.abort());
    await Promise.race([all, this.#store.clock.sleep(CLOSE_WITHIN_MS, ended.signal)]);
    if (this.#late.size > 0) this.#logger.warn({ receives: this.#late.size }, 'Receives had not ended at the close.');
  }

  async #hints(request: ReceiveRequest): Promise<readonly Delivery[]> {
    const received = await this.#transport.receive(request);
    return received.kind === 'hints' ? received.deliveries : [];
  }

  async #lookMeanwhile(request: ReceiveRequest, ended: AbortSignal): Promise<Job[]> {
    if (request.waitMs === 0) return [];
    const stop = request.signal ? AbortSignal.any([request.signal, ended]) : ended;
    for (;;) {
      await this.#store.clock.sleep(LOOK_EVERY_MS, stop);
      if (ended.aborted || request.signal?.aborted) return [];
      const jobs = await this.look(request);
      if (jobs.length > 0) return jobs;
    }
  }

  /** Claims by rank, where that was not in vain a moment ago. */
  async look({ tenant, queues, max: limit, claim }: ReceiveRequest): Promise<Job[]> {
    if (!this.#canLook) return [];
    const now = this.#store.clock.monotonic();
    const due = queues.filter((queue) => now - (this.#vain.get(queue)?.get(tenant) ?? -LOOK_EVERY_MS) >= LOOK_EVERY_MS);
    if (due.length === 0) return [];
    this.#listen();
    // Noted before the look: a wake-up that comes meanwhile crosses it out.
    for (const queue of due) this.#noteVain(queue, tenant, now);
    const request = { tenant, queues: due, limit, ...claim, now: this.#store.clock.now() };
    const jobs = (await this.#store.claim([request]))[0] ?? [];
    for (const { queue } of jobs) this.#vain.get(queue)?.delete(tenant);
    return jobs;
  }

  #noteVain(queue: string, tenant: string, now: number): void {
    const byTenant = this.#vain.get(queue) ?? new Map<string, number>();
    this.#vain.set(queue, byTenant.set(tenant, now));
  }

  /** From the first look on: to listen may cost a connection, and who only enqueues never looks. */
  #listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    const stop = this.#store.onWake((queues) => this.#hear(queues));
    this.#closing.addEventListener('abort', stop, { once: true });
  }

  #hear(queues: readonly string[] | undefined): void {
    if (queues === undefined) this.#vain.clear();
    else for (const queue of queues) this.#vain.delete(queue);
  }
}
