import { setTimeout as sleep } from 'node:timers/promises';
import { type LoggedEvent, silentLogger } from '@waybill/core';
import { type Connection, connect } from 'waybill';
import { Patience } from './patience.ts';

const PAUSE_MS = 200;

/**
 * Follows the log all the time, as whoever watches jobs does. When its store fails it goes on behind the last event that it
 * was told.
 */
export class LogFollower {
  readonly told: LoggedEvent[] = [];
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(url: string) {
    this.#ended = this.#follow(url);
  }

  /** Waits until so many events were told, or nothing comes any more. */
  async untilTold(count: number): Promise<void> {
    const patience = new Patience();
    while (this.told.length < count && patience.lasts(this.told.length)) await sleep(PAUSE_MS);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #follow(url: string): Promise<void> {
    const { signal } = this.#stop;
    let waybill: Connection | undefined;
    while (!signal.aborted) {
      const after = this.told.at(-1)?.cursor;
      try {
        waybill ??= await connect(url, { logger: silentLogger, engine: { maintenance: false } });
        const events = waybill.events.follow({ signal, ...(after !== undefined && { after }) });
        for await (const event of events) this.told.push(event);
      } catch {
        await sleep(PAUSE_MS, undefined, { signal }).catch(() => {});
      }
    }
    await waybill?.close();
  }
}
