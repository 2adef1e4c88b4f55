import type { ServerResponse } from 'node:http';
import type { Bindings } from './env.ts';

/** What all requests of a server share. */
export interface ServerBindings {
  closing: AbortSignal;
  /** Undefined: any host. */
  allowedHosts: ReadonlySet<string> | undefined;
  /** What must be done before the server has closed. */
  work: Set<Promise<unknown>>;
}

/** What the server tells the app with one request. A class, because one is made for every request. */
export class RequestBindings implements Bindings {
  readonly closing: AbortSignal;
  declare readonly allowedHosts?: ReadonlySet<string>;
  readonly #response: ServerResponse;
  readonly #work: Set<Promise<unknown>>;

  constructor({ closing, allowedHosts, work }: ServerBindings, response: ServerResponse) {
    this.closing = closing;
    if (allowedHosts !== undefined) this.allowedHosts = allowedHosts;
    this.#response = response;
    this.#work = work;
  }

  /**
   * Handed to the operating system, which says nothing about what became of it: an answer that is small enough for its
   * buffers counts as delivered, although the client may leave without reading it.
   */
  delivered(): Promise<boolean> {
    const response = this.#response;
    if (response.writableFinished || response.destroyed) return Promise.resolve(response.writableFinished);
    return new Promise((resolve) => {
      response.once('finish', () => resolve(true));
      response.once('close', () => resolve(response.writableFinished));
    });
  }

  waitUntil(work: Promise<unknown>): void {
    const done = work.finally(() => this.#work.delete(done));
    this.#work.add(done);
    done.catch(() => {});
  }
}
