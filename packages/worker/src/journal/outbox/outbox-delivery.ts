import { type AppendSender, NotSent } from '../append-sender.ts';
import { type Batch, type Delivery, type DeliveryEvents, NOTHING_UNSENT, type Unsent } from '../delivery.ts';
import type { OpenOutbox } from './outbox.ts';

/** From memory to the disk, and from there to the server: safe is what the disk has. */
export class OutboxDelivery implements Delivery {
  readonly #sender: AppendSender;
  readonly #events: DeliveryEvents;
  readonly #open: () => Promise<OpenOutbox>;
  #outbox: OpenOutbox | undefined;
  #isSending = false;
  #sent: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(sender: AppendSender, events: DeliveryEvents, open: () => Promise<OpenOutbox>) {
    this.#sender = sender;
    this.#events = events;
    this.#open = open;
  }

  get unsent(): Unsent {
    return this.#outbox?.file.unsent ?? NOTHING_UNSENT;
  }

  async put(batch: Batch): Promise<void> {
    if (this.#isOver) throw new NotSent('The server takes no more entries of this run.');
    this.#outbox ??= await this.#open();
    await this.#outbox.file.append(batch);
    this.#wake();
  }

  async drained(): Promise<void> {
    while (this.#isSending) await this.#sent;
  }

  async close(isLost: boolean): Promise<void> {
    if (!this.#outbox) return;
    if (this.unsent.entries === 0) await this.#outbox.remove();
    else if (isLost) await this.#outbox.moveToLost();
    else await this.#outbox.leave();
  }

  #wake(): void {
    if (this.#isSending || this.#isOver) return;
    this.#isSending = true;
    this.#sent = this.#send().catch((error: unknown) => {
      this.#isOver = true;
      this.#isSending = false;
      if (!(error instanceof NotSent)) this.#events.onRefused(error);
    });
  }

  async #send(): Promise<void> {
    const { file } = this.#outbox!;
    for (let batch = await file.next(); batch; batch = await file.next()) {
      const sent = await this.#sender.send(batch.entries);
      // Only now: a batch that was handed over is not one that has arrived.
      await file.ack(batch).catch(() => {});
      this.#events.onStored(sent, batch);
    }
    this.#isSending = false;
  }
}
