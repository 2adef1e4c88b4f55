import { WaybillError } from '@waybill/core';

export interface WatcherLimits {
  perServer: number;
  perConnection: number;
}

/** A client opens one for each service that it names, and there are fewer of these. */
export const WATCHER_LIMITS: WatcherLimits = { perServer: 1_000, perConnection: 32 };

/** Counts the open calls of `Health.Watch`, because callers without a key may open them. */
export class HealthWatchers {
  readonly #limits: WatcherLimits;
  readonly #byConnection = new WeakMap<object, number>();
  #count = 0;

  constructor(limits: WatcherLimits = WATCHER_LIMITS) {
    this.#limits = limits;
  }

  /** Answers what to call when the watcher has left. The connection is undefined where the app was called without one. */
  enter(connection: object | undefined): () => void {
    const own = connection === undefined ? 0 : (this.#byConnection.get(connection) ?? 0);
    if (own >= this.#limits.perConnection) throw tooMany('This connection', this.#limits.perConnection);
    if (this.#count >= this.#limits.perServer) throw tooMany('This server', this.#limits.perServer);
    this.#add(connection, 1);
    return () => this.#add(connection, -1);
  }

  #add(connection: object | undefined, change: number): void {
    this.#count += change;
    if (connection !== undefined)
      this.#byConnection.set(connection, (this.#byConnection.get(connection) ?? 0) + change);
  }
}

const tooMany = (what: string, most: number): WaybillError =>
  new WaybillError('resource_exhausted', `${what} has ${most} open calls of Health.Watch already.`, {
    hint: 'Open it again later, or call Health.Check.',
  });
