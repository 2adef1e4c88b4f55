import type { Delivery, ReceiveRequest, Transport } from '@waybill/core';
import { Sending } from './sending.ts';

interface Held {
  messageId: string;
  delivery: Delivery;
  /** `waiting`: to be claimed. `given`: its job runs. `done`: SQS may delete it. `back`: it shall come again. */
  state: 'waiting' | 'given' | 'done' | 'back';
  /** The claim that it was given to. */
  claimId?: string;
}

/**
 * The transport inside a function: Lambda has received the messages and deletes those that are not reported as failed.
 * Hints of other jobs go out through the real one, and are waited for, since a function is frozen when it has answered.
 */
export class RecordTransport implements Transport {
  readonly capabilities = { name: 'lambda', ordering: 'tiers', delivers: 'hints', hasSafetyNet: false } as const;
  readonly #inner: Transport;
  readonly #sending = new Sending();
  #held = new Map<string, Held>();
  #finished: () => void = () => {};

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  /** Takes the messages of one invocation; resolves when nothing more is to be done for any of them. */
  begin(messages: readonly { messageId: string; delivery: Delivery }[]): Promise<void> {
    this.#held = new Map(messages.map((one) => [one.delivery.receipt, { ...one, state: 'waiting' as const }]));
    return new Promise((resolve) => {
      this.#finished = resolve;
      this.#tellIfFinished();
    });
  }

  /** The next tenant that has messages to be claimed, and their queues. */
  next(): { tenant: string; queues: string[]; count: number } | null {
    const waiting = this.#in('waiting').map(({ delivery }) => delivery);
    const tenant = waiting[0]?.tenant;
    if (tenant === undefined) return null;
    const own = waiting.filter((one) => one.tenant === tenant);
    return { tenant, queues: [...new Set(own.map(({ queue }) => queue))], count: own.length };
  }

  /** Ids of messages whose jobs were not settled. */
  failures(): string[] {
    return [...this.#held.values()].filter(({ state }) => state !== 'done').map(({ messageId }) => messageId);
  }

  async receive({ tenant, queues, max, claim }: ReceiveRequest): Promise<{ kind: 'hints'; deliveries: Delivery[] }> {
    const fits = ({ delivery }: Held) => delivery.tenant === tenant && queues.includes(delivery.queue);
    const given = this.#in('waiting').filter(fits).slice(0, max);
    for (const one of given) Object.assign(one, { state: 'given', claimId: claim.claimId });
    return { kind: 'hints', deliveries: given.map(({ delivery }) => delivery) };
  }

  /** A claim that failed may have come through; by its id the jobs are found again. */
  takeBack(claimId: string): void {
    for (const one of this.#in('given')) if (one.claimId === claimId) one.state = 'waiting';
  }

  async ack({ receipt }: Pick<Delivery, 'receipt'>): Promise<void> {
    this.#move(receipt, 'done');
  }

  /** Only what is kept elsewhere may be deleted by Lambda. */
  async putAside(delivery: Delivery, reason: string): Promise<void> {
    await this.keep(delivery, reason);
    this.#move(delivery.receipt, 'done');
  }

  async keep(delivery: Delivery, reason: string): Promise<void> {
    if (this.#inner.putAside) await this.#sending.track(this.#inner.putAside(delivery, reason));
  }

  async release({ receipt }: Delivery): Promise<void> {
    this.#move(receipt, 'back');
  }

  extend(delivery: Delivery, ms: number): Promise<void> {
    return this.#inner.extend({ ...delivery, ...this.#held.get(delivery.receipt)?.delivery }, ms);
  }

  checkQueue(tenant: string, queue: string): Promise<void> | undefined {
    return this.#inner.checkQueue?.(tenant, queue);
  }

  send(hints: Parameters<Transport['send']>[0]): Promise<void> {
    return this.#sending.track(this.#inner.send(hints));
  }

  async tellDead(jobs: Parameters<NonNullable<Transport['tellDead']>>[0]): Promise<void> {
    if (this.#inner.tellDead) await this.#sending.track(this.#inner.tellDead(jobs));
  }

  idle(): Promise<void> {
    return this.#sending.idle();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }

  #in(state: Held['state']): Held[] {
    return [...this.#held.values()].filter((one) => one.state === state);
  }

  #move(receipt: string, state: 'done' | 'back'): void {
    const one = this.#held.get(receipt);
    if (one) one.state = state;
    this.#tellIfFinished();
  }

  #tellIfFinished(): void {
    if (this.#in('waiting').length + this.#in('given').length === 0) this.#finished();
  }
}
