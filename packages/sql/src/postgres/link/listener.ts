import { type GrownListener, type Logger, systemClock, type WakeListener } from '@waybill/core';
import { Burst } from './burst.ts';
import { plain } from './failures.ts';
import { grownIds, namesOf } from './grown-payload.ts';
import { backoffMs } from './patience.ts';
import type { Client, Notification } from './pg-types.ts';

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
  readonly #onGrown: GrownListener;
  readonly #wakes: Burst;
  readonly #grown: Burst;
  readonly #grownChannel: string;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  #client: Client | null = null;
  /** The connection that listens already. */
  #listening: Client | null = null;
  #isDeaf = false;
  #follows = false;

  constructor(parts: {
    connect: () => Client;
    channel: string;
    grownChannel: string;
    /** What the notifications of this store begin with; they are not heard. */
    name: string;
    queryTimeoutMs: number;
    logger: Logger;
    onWake: WakeListener;
    onGrown: GrownListener;
  }) {
    this.#connect = parts.connect;
    this.#channel = parts.channel;
    this.#queryTimeoutMs = parts.queryTimeoutMs;
    this.#logger = parts.logger;
    this.#onWake = parts.onWake;
    this.#onGrown = parts.onGrown;
    this.#grownChannel = parts.grownChannel;
    // The payload of a wake is a list of queues; anything else means that jobs of any queue may be ready.
    this.#wakes = new Burst(namesOf, parts.onWake);
    this.#grown = new Burst((payload) => grownIds(payload, parts.name), parts.onGrown);
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Whether to hear of journals that grow. A process in which nothing is followed is not woken for each of them. */
  follow(isWanted: boolean): void {
    this.#follows = isWanted;
    if (isWanted) this.start();
    const client = this.#listening;
    // A connection on which that fails is replaced, and the next one is asked again.
    if (client) this.#listenToGrown(client).catch(() => endSoon(client));
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
      this.#listening = client;
      // Something may have been said while nobody listened.
      this.#onWake();
      if (this.#follows) await this.#listenToGrown(client);
      await gone;
    } finally {
      clearInterval(beat);
      this.#client = null;
      this.#listening = null;
      await endSoon(client).catch(() => {});
    }
  }

  async #listenToGrown(client: Client): Promise<void> {
    const isWanted = this.#follows;
    await this.#ask(client, `${isWanted ? 'listen' : 'unlisten'} "${this.#grownChannel}"`);
    if (isWanted) this.#onGrown();
  }

  /** A connection that does not answer is ended, which ends the wait above. */
  #beat(client: Client): void {
    this.#ask(client, 'select 1').catch(() => endSoon(client));
  }

  async #ask(client: Client, text: string): Promise<void> {
    const query = { text, query_timeout: this.#queryTimeoutMs };
    await client.query(query);
  }

  #hear({ channel, payload }: Notification): void {
    (channel === this.#grownChannel ? this.#grown : this.#wakes).hear(payload);
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
