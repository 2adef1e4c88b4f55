import type { Transport } from '@waybill/core';

/** What is being sent, to be waited for: a function is frozen when it has answered. */
export class Sending {
  readonly #underWay = new Set<Promise<void>>();

  track(work: Promise<void>): Promise<void> {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
    return tracked;
  }

  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }
}

/** The same transport, whose sending can be waited for. */
export function trackedTransport(inner: Transport, sending: Sending): Transport {
  return {
    ...{ capabilities: inner.capabilities, send: (hints) => sending.track(inner.send(hints)) },
    ...(inner.tellDead && { tellDead: (jobs) => sending.track(inner.tellDead!(jobs)) }),
    ...(inner.checkQueue && { checkQueue: (tenant, queue) => inner.checkQueue!(tenant, queue) }),
    ...(inner.depth && { depth: (tenant, queue) => inner.depth!(tenant, queue) }),
    ...(inner.putAside && { putAside: (delivery, reason) => inner.putAside!(delivery, reason) }),
    ...(inner.ping && { ping: () => inner.ping!() }),
    ...(inner.aside && { aside: inner.aside }),
    ...(inner.takeWaiting && { takeWaiting: (tenant, queue) => inner.takeWaiting!(tenant, queue) }),
    receive: (request) => inner.receive(request),
    ack: (delivery) => inner.ack(delivery),
    extend: (delivery, ms) => inner.extend(delivery, ms),
    release: (delivery, delayMs) => inner.release(delivery, delayMs),
    close: () => inner.close(),
  };
}
