import { type Logger, systemClock, type WakeListener } from '@waybill/core';
import type { Client, Notification } from 'pg';
import { plain } from './failures.ts';
import { backoffMs } from './patience.ts';

/** A connection that lasted so long was a good one: the next is made at once. */
const STEADY_MS = 5_000;

/**
 * Hears of other processes' jobs by LISTEN, on a connection of its own that is made again whenever it breaks. While it
 * is gone nothing is lost but speed, since workers poll.
 */
export class Listener {
  readonly #connect: () => Client;
  readonly #channel: string;
  readonly #queryTimeoutMs: number;
  readonly #logger: Logger;
  readonly #onWake: WakeListener;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #client: Client | null = null;
  #isDeaf = false;
  /** What was heard in this turn; null means any queue. */
  #heard: Set<string> | null | undefined;

  constructor(parts: {
    connect: () => Client;
    channel: string;
    queryTimeoutMs: number;
    logger: Logger;
    onWake: WakeListener;
  }) {
    this.#connect = parts.connect;
    this.#channel = parts.channel;
    this.#queryTimeoutMs = parts.queryTimeoutMs;
    this.#logger = parts.logger;
    this.#onWake = parts.onWake;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#client) await endSoon(this.#client);
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    let failures = 0;
    while (!signal.aborted) {
      const startedAt = performance.now();
      let cause: unknown;
      try {
        await this.#listen();
      } catch (error) {
        cause = plain(error);
      }
      failures = performance.now() - startedAt > STEADY_MS ? 0 : failures + 1;
      // One lost connection is replaced at once and not worth a word.
      if (failures > 1 && !this.#isDeaf && !signal.aborted) {
        this.#isDeaf = true;
        this.#logger.warn({ cause }, 'PostgreSQL cannot be listened to; jobs are found by polling.');
      }
      await systemClock.sleep(backoffMs(failures), signal);
    }
  }

  /** Resolves or rejects when the connection is gone. */
  async #listen(): Promise<void> {
    const client = this.#connect();
    this.#client = client;
    const gone = new Promise<void>((resolve, reject) => {
      client.on('error', reject);
      client.on('end', resolve);
    });
    // The wait for it begins further down.
    gone.catch(() => {});
    client.on('notification', (notification) => this.#hear(notification));
    // A connection that died tells nothing by itself.
    const beat = setInterval(() => this.#beat(client), this.#queryTimeoutMs).unref();
    try {
      // When it is ended while it connects, `pg` tells so by the event alone.
      await Promise.race([client.connect(), gone]);
      unref(client);
      await this.#ask(client, `listen "${this.#channel}"`);
      if (this.#isDeaf) this.#logger.info({ channel: this.#channel }, 'PostgreSQL is listened to again.');
      this.#isDeaf = false;
      // Something may have been said while nobody listened.
      this.#onWake();
      await gone;
    } finally {
      clearInterval(beat);
      this.#client = null;
      await endSoon(client).catch(() => {});
    }
  }

  /** A connection that does not answer is ended, which ends the wait above. */
  #beat(client: Client): void {
    this.#ask(client, 'select 1').catch(() => endSoon(client));
  }

  async #ask(client: Client, text: string): Promise<void> {
    const query = { text, query_timeout: this.#queryTimeoutMs };
    await client.query(query);
  }

  /** A burst is told as one. */
  #hear({ payload }: Notification): void {
    if (this.#heard === undefined) {
      this.#heard = new Set();
      // Whatever else the socket had for us is read by then.
      process.nextTick(() => this.#tell());
    }
    const queues = queuesOf(payload);
    if (queues === null) this.#heard = null;
    else for (const queue of queues) this.#heard?.add(queue);
  }

  #tell(): void {
    const heard = this.#heard;
    this.#heard = undefined;
    this.#onWake(heard ? [...heard] : undefined);
  }
}

/** So long the server has to take leave. */
const GOODBYE_MS = 1_000;

/** A server that went silent would never confirm the end of the connection, so it is cut off. */
async function endSoon(client: Client): Promise<void> {
  const cut = setTimeout(() => client.connection.stream.destroy(), GOODBYE_MS);
  try {
    await client.end();
  } finally {
    clearTimeout(cut);
  }
}

/** Listening alone does not keep the process alive. The types of `pg` know this method only for clients of a pool. */
function unref(client: Client & { unref?: () => void }): void {
  client.unref?.();
}

/** The payload is a JSON list of queues; anything else means that jobs of any queue may be ready. */
function queuesOf(payload: string | undefined): string[] | null {
  try {
    const queues: unknown = JSON.parse(payload ?? '');
    return Array.isArray(queues) && queues.every((queue) => typeof queue === 'string') ? queues : null;
  } catch {
    return null;
  }
}
