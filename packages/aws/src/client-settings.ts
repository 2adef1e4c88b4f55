import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isSilence } from './silence.ts';
import type { Timeouts } from './timeouts.ts';

interface Place {
  region?: string | undefined;
  endpoint?: string | undefined;
}

interface ConnectionBounds {
  /** Connections at most. */
  sockets: number;
  connectMs: Timeouts['connectMs'];
  /** Until an answer begins. */
  answerMs: number;
  /** The longest silence of a connection in use, also while the body of an answer comes. */
  silenceMs: number;
}

/**
 * What the clients of all services are made with. The SDK knows two bounds: `requestTimeout` ends when the headers of an
 * answer have come, and only warns without `throwOnRequestTimeout`; `socketTimeout` is about silence, so that it also
 * covers a body that stalls. answer-bound.ts adds one for the whole.
 */
export function clientSettings({ region, endpoint }: Place, bounds: ConnectionBounds) {
  // Agents of our own: only so the idle connections can be dropped.
  const agent = { keepAlive: true, maxSockets: bounds.sockets };
  const [httpAgent, httpsAgent] = [new HttpAgent(agent), new HttpsAgent(agent)];
  const settings = {
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
    requestHandler: {
      connectionTimeout: bounds.connectMs,
      socketTimeout: bounds.silenceMs,
      requestTimeout: bounds.answerMs,
      throwOnRequestTimeout: true,
      httpAgent,
      httpsAgent,
    },
  };
  return { settings, agents: [httpAgent, httpsAgent] };
}

/** The part of a client of the SDK that sees requests and their failures. */
interface Watched {
  middlewareStack: { add(middleware: never, options: never): void };
}

interface Wire {
  request?: { protocol?: string; hostname?: string; port?: number };
}

/**
 * Notes on every failure where the request went. When one was met by silence, the idle connections are dropped too: what
 * swallowed it has most likely forgotten them, and each would cost a later call its time.
 */
export function watchFailures<C extends Watched>(client: C, agents: readonly HttpAgent[]): C {
  const middleware = (next: (args: Wire) => Promise<unknown>) => async (args: Wire) => {
    try {
      return await next(args);
    } catch (error) {
      if (isSilence(error)) for (const agent of agents) dropIdle(agent);
      const { protocol, hostname, port } = args.request ?? {};
      const endpoint = `${protocol ?? 'https:'}//${hostname}${port === undefined ? '' : `:${port}`}`;
      throw hostname === undefined ? error : Object.assign(error as Error, { endpoint });
    }
  };
  // Outside of what reads the body, so that a body that stalls is seen too.
  const place = { step: 'deserialize', priority: 'high', name: 'waybillFailures' };
  client.middlewareStack.add(middleware as never, place as never);
  return client;
}

function dropIdle({ freeSockets }: HttpAgent): void {
  for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
}
