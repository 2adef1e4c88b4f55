import { constants, type Http2SecureServer, type Http2Server, type ServerHttp2Session } from 'node:http2';

export interface SessionLimits {
  /** A connection that has carried no call for so long is asked to end. */
  idleMs: number;
  /** While calls are open, the client is asked this often whether it is there. */
  pingMs: number;
  /** A connection whose client has not begun to speak HTTP/2 after so long is cut off. */
  prefaceMs: number;
  /** A connection beyond so many takes the place of the longest idle one, or is refused where all of them have calls. */
  most: number;
}

interface Session {
  streams: number;
  idleSince: number;
  /** A ping is on its way. */
  isAsked: boolean;
}

/**
 * The connections of the port for gRPC. A client whose machine has died sends nothing, and a stream to it may be silent by
 * right: only a ping that is not answered shows it, and then what the client was given can go to others.
 */
export class Sessions {
  readonly #all = new Map<ServerHttp2Session, Session>();
  /** Without a call, in the order in which they became so. */
  readonly #idle = new Set<ServerHttp2Session>();
  readonly #limits: SessionLimits;
  readonly #timer: NodeJS.Timeout;

  constructor(server: Http2Server | Http2SecureServer, limits: SessionLimits) {
    this.#limits = limits;
    server.on('session', (session: ServerHttp2Session) => this.#add(session));
    this.#timer = setInterval(() => this.#look(), limits.pingMs).unref();
  }

  /** Takes no more calls, and ends each connection when its calls are over. */
  close(): void {
    clearInterval(this.#timer);
    for (const session of this.#all.keys()) session.close();
  }

  destroy(): void {
    for (const session of this.#all.keys()) session.destroy();
  }

  #add(session: ServerHttp2Session): void {
    if (this.#all.size >= this.#limits.most && !this.#endLongestIdle())
      return void session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
    const known: Session = { streams: 0, idleSince: performance.now(), isAsked: false };
    this.#all.set(session, known);
    this.#idle.add(session);
    session.once('close', () => this.#forget(session));
    const late = setTimeout(() => session.destroy(), this.#limits.prefaceMs).unref();
    for (const event of ['remoteSettings', 'close']) session.once(event, () => clearTimeout(late));
    // A connection that breaks ends its streams, and these end their calls.
    session.on('error', () => session.destroy());
    session.on('stream', (stream) => {
      known.streams += 1;
      this.#idle.delete(session);
      stream.once('close', () => {
        known.streams -= 1;
        known.idleSince = performance.now();
        if (known.streams === 0 && this.#all.has(session)) this.#idle.add(session);
      });
    });
  }

  #forget(session: ServerHttp2Session): void {
    this.#all.delete(session);
    this.#idle.delete(session);
  }

  /** A client must expect this of an idle connection at any time. */
  #endLongestIdle(): boolean {
    const [session] = this.#idle;
    if (session === undefined) return false;
    session.close();
    this.#forget(session);
    return true;
  }

  #look(): void {
    const now = performance.now();
    for (const [session, known] of this.#all) {
      if (known.streams === 0 && now - known.idleSince >= this.#limits.idleMs) session.close();
      else if (known.isAsked) session.destroy();
      else if (known.streams > 0) this.#ask(session, known);
    }
  }

  #ask(session: ServerHttp2Session, known: Session): void {
    if (session.destroyed || session.closed) return;
    known.isAsked = true;
    session.ping((error) => {
      if (error === null) known.isAsked = false;
    });
  }
}
