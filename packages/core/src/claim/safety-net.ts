import type { Job } from '../job/job.ts';
import type { Store } from '../store/store.ts';
import type { Delivery, ReceiveRequest, Transport } from '../transport/transport.ts';

/** How long a queue is left alone after a look that found nothing. */
const LOOK_EVERY_MS = 1_000;

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
  readonly #canLook: boolean;
  /** When a queue was last looked at in vain, by its name and then by tenant: wake-ups name no tenants. */
  readonly #vain = new Map<string, Map<string, number>>();
  readonly #closing: AbortSignal;
  #isListening = false;

  constructor(store: Store, transport: Transport, closing: AbortSignal) {
    this.#store = store;
    this.#transport = transport;
    this.#closing = closing;
    this.#canLook = (store.capabilities.claimsByRank ?? true) && (transport.capabilities.hasSafetyNet ?? true);
  }

  async receive(request: ReceiveRequest): Promise<Caught> {
    const ended = new AbortController();
    const found = new AbortController();
    const signal = request.signal ? AbortSignal.any([request.signal, found.signal]) : found.signal;
    const receiving = this.#hints({ ...request, signal }).finally(() => ended.abort());
    const [received, looked] = await Promise.allSettled([
      receiving,
      this.#lookMeanwhile(request, ended.signal).then((jobs) => {
        if (jobs.length > 0) found.abort();
        return jobs;
      }),
    ]);
    if (looked.status === 'rejected') throw looked.reason;
    const deliveries = received.status === 'fulfilled' ? received.value : [];
    if (looked.value.length > 0 || request.signal?.aborted) {
      // There is no room left for what came in the same moment, or nobody who would take it.
      await Promise.allSettled(deliveries.map((delivery) => this.#transport.release(delivery, 0)));
      return { deliveries: [], jobs: looked.value };
    }
    if (deliveries.length > 0) return { deliveries, jobs: [] };
    const jobs = await this.look(request);
    // While the store has jobs, a queue that is away costs speed only.
    if (jobs.length === 0 && received.status === 'rejected') throw received.reason;
    return { deliveries: [], jobs };
  }

  async #hints(request: ReceiveRequest): Promise<readonly Delivery[]> {
    const received = await this.#transport.receive(request);
    return received.kind === 'hints' ? received.deliveries : [];
  }

  async #lookMeanwhile(request: ReceiveRequest, ended: AbortSignal): Promise<Job[]> {
    if (request.waitMs === 0) return [];
    for (;;) {
      await this.#store.clock.sleep(LOOK_EVERY_MS, ended);
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
