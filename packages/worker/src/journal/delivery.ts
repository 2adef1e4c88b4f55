import type { NewEntry } from '@waybill/core';
import { type AppendSender, NotSent, type Sent } from './append-sender.ts';

/** Entries that travel together, with their sequences. */
export interface Batch {
  entries: readonly NewEntry[];
  /** The sequences of those that are critical. */
  critical: readonly number[];
}

export interface DeliveryEvents {
  onStored(sent: Sent, batch: Batch): void;
  /** The server takes no entries of this run any more, or never did. */
  onRefused(error: unknown): void;
}

/** How many entries, and how many of them are critical. */
export interface Unsent {
  entries: number;
  critical: number;
}

export const NOTHING_UNSENT: Unsent = Object.freeze({ entries: 0, critical: 0 });

/** How the entries of one run get to the server, in order. */
export interface Delivery {
  /** What was put here and is not stored by the server. */
  readonly unsent: Unsent;
  /** Resolves when they are safe. Rejects with `NotSent` where they are not, and with `NotKept` where the disk refuses them. */
  put(batch: Batch): Promise<void>;
  /** Resolves when everything has been stored, or will not be. */
  drained(): Promise<void>;
  /** The run is over. `isLost`: its entries would be refused from now on. */
  close(isLost: boolean): Promise<void>;
}

/** The disk did not take a batch. Nothing of it is in the outbox. */
export class NotKept extends Error {
  override readonly name = 'NotKept';
}

/** From memory to the server: safe is what the server has answered for. */
export class DirectDelivery implements Delivery {
  readonly unsent = NOTHING_UNSENT;
  readonly #sender: AppendSender;
  readonly #events: DeliveryEvents;

  constructor(sender: AppendSender, events: DeliveryEvents) {
    this.#sender = sender;
    this.#events = events;
  }

  async put(batch: Batch): Promise<void> {
    let sent: Sent;
    try {
      sent = await this.#sender.send(batch.entries);
    } catch (error) {
      if (error instanceof NotSent) throw error;
      this.#events.onRefused(error);
      throw new NotSent('The server refused the entries.', { cause: error });
    }
    this.#events.onStored(sent, batch);
  }

  async drained(): Promise<void> {}

  async close(): Promise<void> {}
}
