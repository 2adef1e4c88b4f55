import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Bindings } from './env.ts';
import type { Forwarded, TrustedProxies } from './forwarded.ts';

/** What all requests of a server share. */
export interface ServerBindings {
  closing: AbortSignal;
  /** Undefined: any host. */
  allowedHosts: ReadonlySet<string> | undefined;
  /** Undefined: whoever connects is the client. */
  proxies: TrustedProxies | undefined;
  /** Whether this server speaks TLS itself. */
  isTls: boolean;
  /** How many connections a port takes. */
  mostConnections: number;
  /** What must be done before the server has closed. */
  work: Set<Promise<unknown>>;
}

/** What the server tells the app with one request. A class, because one is made for every request. */
export class RequestBindings implements Bindings {
  readonly closing: AbortSignal;
  declare readonly allowedHosts?: ReadonlySet<string>;
  readonly mostConnections: number;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #shared: ServerBindings;
  #forwarded: Forwarded | undefined;

  constructor(shared: ServerBindings, request: IncomingMessage, response: ServerResponse) {
    this.closing = shared.closing;
    if (shared.allowedHosts !== undefined) this.allowedHosts = shared.allowedHosts;
    this.mostConnections = shared.mostConnections;
    this.#request = request;
    this.#response = response;
    this.#shared = shared;
  }

  get clientAddress(): string | undefined {
    return this.#behindProxies()?.address ?? this.#request.socket.remoteAddress;
  }

  get connection(): object | undefined {
    return this.#request.socket;
  }

  get isHttps(): boolean {
    return this.#behindProxies()?.isHttps ?? this.#shared.isTls;
  }

  get forwardedHost(): string | undefined {
    return this.#behindProxies()?.host;
  }

  #behindProxies(): Forwarded | undefined {
    this.#forwarded ??= this.#shared.proxies?.read(this.#request);
    return this.#forwarded;
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

  cut(): void {
    this.#response.destroy();
  }

  /** Until the answer is over: the connection may carry others after it. */
  allowSilence(): void {
    const { socket } = this.#request;
    const { timeout = 0 } = socket;
    socket.setTimeout(0);
    this.#response.once('close', () => socket.setTimeout(timeout));
  }

  waitUntil(work: Promise<unknown>): void {
    const pending = this.#shared.work;
    const done = work.finally(() => pending.delete(done));
    pending.add(done);
    done.catch(() => {});
  }
}
