import type { Delivery } from '@waybill/core';
import type { Base } from './base.ts';
import { QueueCalls, secondsOf } from './batches.ts';
import { isMissing } from './failures.ts';
import { isStrange, rawOf, readMessage } from './message.ts';
import type { Place } from './queue-names.ts';
import type { Message } from './sdk.ts';
import { LONGEST_POLL_MS } from './settings.ts';

export interface SourceParts {
  base: Base;
  place: Place;
  /** Of the SQS queue. */
  name: string;
  url: string;
  /** The queue was deleted. */
  onMissing(): void;
  onPoison(): void;
  /** Keeps a foreign message that was refused, where there is a place for it. */
  putAside(message: Message, reason: string): Promise<void>;
}

/** When a message comes again that could not be put aside. */
const UNKEPT_AGAIN_MS = 900_000;

/** One SQS queue to receive from and to speak to. */
export class Source {
  readonly name: string;
  readonly calls: QueueCalls;
  readonly #parts: SourceParts;

  constructor(parts: SourceParts) {
    this.name = parts.name;
    this.calls = new QueueCalls(parts.base, parts.url);
    this.#parts = parts;
  }

  /** The most that one receive asks for. */
  get messagesPerReceive(): number {
    return this.#parts.base.settings.messagesPerReceive;
  }

  /** At most ten, or `messagesPerReceive`. A queue that is gone gives nothing. */
  async receive(most: number, leaseMs: number, waitMs: number, signal: AbortSignal): Promise<Delivery[]> {
    const { base, url } = this.#parts;
    const waitSeconds = Math.ceil(Math.min(LONGEST_POLL_MS, waitMs) / 1000);
    const command = new base.sdk.ReceiveMessageCommand({
      QueueUrl: url,
      MaxNumberOfMessages: Math.min(this.messagesPerReceive, most),
      VisibilityTimeout: secondsOf(Math.min(leaseMs, base.settings.receiveVisibilityMs)),
      WaitTimeSeconds: waitSeconds,
      MessageAttributeNames: ['All'],
    });
    try {
      const requestTimeout = waitSeconds * 1000 + base.settings.timeouts.requestMs;
      const client = waitSeconds > 0 ? base.poller : base.client;
      const { Messages = [] } = await client.send(command, { abortSignal: signal, requestTimeout });
      return await this.#read(Messages);
    } catch (error) {
      if (signal.aborted) return [];
      if (!isMissing(error)) throw error;
      this.#parts.onMissing();
      return [];
    }
  }

  /** Messages that wait to be received, now or after their delay; not those that somebody holds. */
  async depth(): Promise<number> {
    const { base, url } = this.#parts;
    const AttributeNames = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesDelayed'] as const;
    const command = new base.sdk.GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...AttributeNames] });
    try {
      const { Attributes = {} } = await base.client.send(command);
      return AttributeNames.reduce((sum, name) => sum + Number(Attributes[name] ?? 0), 0);
    } catch (error) {
      if (!isMissing(error)) throw error;
      this.#parts.onMissing();
      return 0;
    }
  }

  async #read(messages: Message[]): Promise<Delivery[]> {
    const { base, place, name } = this.#parts;
    const adopt = base.settings.adopt[place.queue];
    const deliveries: Delivery[] = [];
    const removed: Promise<void>[] = [];
    for (const message of messages) {
      const read = readMessage(rawOf(message), place, name, adopt);
      if (isStrange(read)) removed.push(this.#removePoison(message, adopt === undefined ? null : read.strange));
      else deliveries.push(read.adopt ? { ...read, message } : read);
    }
    await Promise.all(removed);
    return deliveries;
  }

  /**
   * Nobody will ever understand it, and kept it would come back until it has blocked the redrive queue. Where foreign
   * messages become jobs it may be one that somebody wants to repair, so it is put aside first.
   */
  async #removePoison(message: Message, keptFor: string | null): Promise<void> {
    const { base, onPoison, putAside } = this.#parts;
    const { logger } = base.settings;
    const told = { queue: this.name, message: message.MessageId };
    onPoison();
    logger.warn(
      told,
      keptFor === null ? 'A message that is no hint was removed.' : 'A message that is no job was put aside.',
    );
    try {
      if (keptFor !== null) await putAside(message, keptFor);
      await this.calls.remove(message.ReceiptHandle ?? '');
    } catch (error) {
      logger.warn({ err: error, ...told }, 'A message that is no hint could not be removed.');
      // Nobody can do anything about it for now, so it shall not come with every receive.
      await this.calls.hide(message.ReceiptHandle ?? '', UNKEPT_AGAIN_MS).catch(() => {});
    }
  }
}
