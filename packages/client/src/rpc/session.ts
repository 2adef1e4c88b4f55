import type { ClientHttp2Stream, Http2Session } from 'node:http2';
import { Http2SessionManager } from '@connectrpc/connect-node';

/** A server that answers no ping by then is dead, and its calls fail: those that may be are sent again. */
const LIVENESS = { pingIntervalMs: 10_000, pingTimeoutMs: 5_000 };

/**
 * The one HTTP/2 connection of a client, made anew when it breaks. A connection that is closed while it breaks tells its
 * error when the manager of Connect does not listen any more, and Node ends a process for that: so we listen, too.
 */
export class Session extends Http2SessionManager {
  readonly #watched = new WeakSet<Http2Session>();

  constructor(origin: string) {
    super(origin, LIVENESS);
  }

  override async request(...call: Parameters<Http2SessionManager['request']>): Promise<ClientHttp2Stream> {
    const stream = await super.request(...call);
    const { session } = stream;
    if (session !== undefined && !this.#watched.has(session)) {
      this.#watched.add(session);
      session.on('error', () => {});
    }
    return stream;
  }

  /** A connection that is not made by a deadline may never be: the next call tries another. */
  giveUpConnecting(): void {
    if (this.state() === 'connecting') this.abort();
  }
}
