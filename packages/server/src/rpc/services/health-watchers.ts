import { WaybillError } from '@waybill/core';

export interface WatcherLimits {
  perServer: number;
  perConnection: number;
}

/** A client opens one for each service that it names, and there are fewer of these. */
export const WATCHER_LIMITS: WatcherLimits = { perServer: 1_000, perConnection: 32 };

/** Watchers take at most this part of the connections of a server: the others are for callers with keys. */
const PART_OF_CONNECTIONS = 4;

export interface WatcherOrigin {
  /** Undefined where the app was called without one. */
  connection: object | undefined;
  /** Where the client is. One client may have many connections. */
  client: string;
  /** How many connections the server takes. Undefined: any number. */
  mostConnections?: number | undefined;
}

export interface Watcher {
  /** Aborted when the watcher had to make room for that of another client. */
  readonly signal: AbortSignal;
  /** Refuses with the reason where the watcher had to make room. */
  check(): void;
  leave(): void;
}

interface Known {
  connection: object | undefined;
  over: AbortController;
}

/**
 * Bounds the open calls of `Health.Watch`, because callers without a key may open them. Beyond the bound of the server, the
 * client with the most of them loses its oldest one, so that no client can keep the others out.
 */
export class HealthWatchers {
  readonly #limits: WatcherLimits;
  readonly #byConnection = new WeakMap<object, number>();
  /** The watchers of each client, the oldest first. */
  readonly #byClient = new Map<string, Set<Known>>();
  #count = 0;

  constructor(limits: WatcherLimits = WATCHER_LIMITS) {
    this.#limits = limits;
  }

  enter({ connection, client, mostConnections = Number.POSITIVE_INFINITY }: WatcherOrigin): Watcher {
    const { perConnection, perServer } = this.#limits;
    const own = connection === undefined ? 0 : (this.#byConnection.get(connection) ?? 0);
    if (own >= perConnection) throw tooMany(`This connection has ${perConnection}`);
    const most = Math.max(1, Math.min(perServer, Math.floor(mostConnections / PART_OF_CONNECTIONS)));
    if (this.#count >= most) this.#endOneOf(this.#largest(client));
    const known = { connection, over: new AbortController() };
    this.#add(client, known);
    return {
      signal: known.over.signal,
      check: () => {
        if (known.over.signal.aborted) throw tooMany(`This server has ${most}`);
      },
      leave: () => this.#remove(client, known),
    };
  }

  /** The client with the most watchers; of several, the one that asks. */
  #largest(asking: string): string {
    let largest = asking;
    let most = this.#byClient.get(asking)?.size ?? 0;
    for (const [client, { size }] of this.#byClient) {
      if (size <= most) continue;
      largest = client;
      most = size;
    }
    return largest;
  }

  #endOneOf(client: string): void {
    const [oldest] = this.#byClient.get(client) ?? [];
    if (oldest === undefined) return;
    this.#remove(client, oldest);
    oldest.over.abort();
  }

  #add(client: string, known: Known): void {
    const watchers = this.#byClient.get(client);
    if (watchers) watchers.add(known);
    else this.#byClient.set(client, new Set([known]));
    this.#tally(known.connection, 1);
  }

  /** Once: a watcher that had to make room leaves later. */
  #remove(client: string, known: Known): void {
    const watchers = this.#byClient.get(client);
    if (!watchers?.delete(known)) return;
    if (watchers.size === 0) this.#byClient.delete(client);
    this.#tally(known.connection, -1);
  }

  #tally(connection: object | undefined, change: number): void {
    this.#count += change;
    if (connection !== undefined)
      this.#byConnection.set(connection, (this.#byConnection.get(connection) ?? 0) + change);
  }
}

const tooMany = (what: string): WaybillError =>
  new WaybillError('resource_exhausted', `${what} open calls of Health.Watch already.`, {
    hint: 'Open it again later, or call Health.Check.',
  });
