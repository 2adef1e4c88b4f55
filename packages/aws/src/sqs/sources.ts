import { WaybillError } from '@waybill/core';
import { original } from './aside-message.ts';
import { withReason } from './aside-reason.ts';
import type { Base } from './base.ts';
import { isRefusedMessage, type NewMessage } from './batches.ts';
import { LongPoll } from './long-poll.ts';
import type { QueueBook } from './queue-book.ts';
import { type Place, type Role, TIERS } from './queue-names.ts';
import type { Message } from './sdk.ts';
import { Source } from './source.ts';

/** How often the redrive queue is looked at: what is there has waited long already. */
const REDRIVE_EVERY_MS = 60_000;

/** The SQS queues that this process speaks to, opened once each. */
export class Sources {
  poisoned = 0;
  readonly #base: Base;
  readonly #book: QueueBook;
  readonly #closing: AbortSignal;
  readonly #open = new Map<string, LongPoll>();
  readonly #redriven = new Map<string, number>();

  constructor(base: Base, book: QueueBook, closing: AbortSignal) {
    this.#base = base;
    this.#book = book;
    this.#closing = closing;
  }

  /**
   * Where to receive from, in order of preference. The default tier is made if need be, since somebody has to wait for
   * something; the others exist once a job has had such a priority.
   */
  async toReceive(places: readonly Place[]): Promise<LongPoll[]> {
    const found = await Promise.all(
      places.map(async (place) => {
        await this.#book.make(place, 'default');
        return Promise.all(TIERS.map((tier) => this.find(place, tier)));
      }),
    );
    return [...new Set(found.flat().filter((line) => line !== undefined))];
  }

  /**
   * Redrive queues whose turn has come. What is there are hints that nobody deleted in three receives. The row decides
   * about them as about any other, so receiving them is all the processing they need.
   */
  async toRedrive(places: readonly Place[]): Promise<LongPoll[]> {
    const now = this.#base.settings.clock.monotonic();
    const due = places.filter(({ tenant, queue }) => {
      const last = this.#redriven.get(`${tenant}\n${queue}`) ?? Number.NEGATIVE_INFINITY;
      return now - last >= REDRIVE_EVERY_MS;
    });
    for (const { tenant, queue } of due) this.#redriven.set(`${tenant}\n${queue}`, now);
    const found = await Promise.all(due.map((place) => this.find(place, 'redrive')));
    return found.filter((line) => line !== undefined);
  }

  /** Whether there is such a queue, or may be. */
  has(place: Place, role: Role): boolean {
    return this.#book.nameFor(place, role) !== undefined;
  }

  async find(place: Place, role: Role): Promise<LongPoll | undefined> {
    const name = this.#book.nameFor(place, role);
    const url = name === undefined ? undefined : await this.#book.find(name);
    return url === undefined ? undefined : this.#line(place, name!, url);
  }

  async make(place: Place, role: Role): Promise<Source> {
    const url = await this.#book.make(place, role);
    return this.#line(place, this.#book.nameFor(place, role)!, url).source;
  }

  /** Somebody may have deleted the queue; then it is made anew, once. */
  async send(place: Place, role: Role, message: NewMessage): Promise<void> {
    const source = await this.make(place, role);
    if (await source.calls.send(message)) return;
    this.forget(source.name);
    const isSent = await (await this.make(place, role)).calls.send(message);
    if (!isSent) throw new WaybillError('unavailable', `The SQS queue '${source.name}' is being deleted.`);
  }

  /**
   * Into the dead queue, with everything that it came with. Where no such queue was given, it is lost. The reason may make
   * a large message too large; then it goes without, and only the log tells.
   */
  async putAside(place: Place, message: Message, reason: string): Promise<void> {
    if (!this.has(place, 'dead')) return;
    try {
      await this.send(place, 'dead', { MessageBody: message.Body, ...withReason(message, reason) });
    } catch (error) {
      if (!isRefusedMessage(error)) throw error;
      const told = { err: error, queue: place.queue, message: message.MessageId, reason };
      this.#base.settings.logger.warn(told, 'A message was put aside without its reason, which made it too large.');
      await this.send(place, 'dead', original(message));
    }
  }

  /**
   * By the name in a receipt, which may come from another process; nobody receives through it. A delivery that carries its
   * message was received here, and its receipt is true.
   */
  async byName(name: string, { message, ...place }: Place & { message?: unknown }): Promise<Source | undefined> {
    if (message === undefined && !this.#book.isOwn(name, place)) {
      const told = { queue: place.queue, name };
      this.#base.settings.logger.warn(told, 'A lease token named an SQS queue that is not one of its job queue.');
      return undefined;
    }
    const known = this.#open.get(name);
    if (known) return known.source;
    const url = await this.#book.find(name);
    return url === undefined ? undefined : this.#source({ tenant: '', queue: '' }, name, url);
  }

  forget(name: string): void {
    this.#open.delete(name);
    this.#book.forget(name);
  }

  async idle(): Promise<void> {
    await Promise.all([...this.#open.values()].map(({ source }) => source.calls.idle()));
  }

  #line(place: Place, name: string, url: string): LongPoll {
    const known = this.#open.get(name);
    if (known) return known;
    const { clock, logger } = this.#base.settings;
    const line = new LongPoll(this.#source(place, name, url), { clock, logger, closing: this.#closing });
    this.#open.set(name, line);
    return line;
  }

  #source(place: Place, name: string, url: string): Source {
    return new Source({
      ...{ base: this.#base, place, name, url },
      onMissing: () => this.forget(name),
      putAside: (message, reason) => this.putAside(place, message, reason),
      onPoison: () => {
        this.poisoned += 1;
      },
    });
  }
}
