import { stderrLogger, type Waybill } from '@waybill/core';
import type { ConnectOptions } from './connect-options.ts';

/** A server that has not answered by then is told of. */
const SILENT_MS = 1_000;

/**
 * The port of a server, which is asked once whether it is there. A server that is away is told of by the log: a worker or
 * a web application may well start before its server does, and goes on when that answers.
 */
export function checkedServer(port: Waybill, url: string, { logger = stderrLogger, headers }: ConnectOptions): Waybill {
  const closing = new AbortController();
  const { origin, pathname } = new URL(url);
  const server = origin + pathname.replace(/\/+$/, '');
  const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(SILENT_MS)]);
  fetch(`${server}/health`, { signal, ...(headers && { headers }) })
    .then(async (answer) => {
      await answer.body?.cancel();
      if (answer.status !== 404) return;
      const hint = 'Check the port and the path in the address.';
      logger.warn({ hint }, `The server ${server} answers, but it is no Waybill server.`);
    })
    .catch((error: unknown) => {
      if (closing.signal.aborted) return;
      const why = signal.aborted ? `has not answered within ${SILENT_MS} ms` : 'could not be reached';
      const hint = 'Check the address, and that the server runs there.';
      logger.warn({ hint, cause: codeOf(error) }, `The server ${server} ${why}. Calls fail until it answers.`);
    });
  return {
    ...port,
    close: () => {
      closing.abort();
      return port.close();
    },
  };
}

/** What the system says, such as ECONNREFUSED; fetch hides it in the cause. */
function codeOf(error: unknown): unknown {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && 'code' in cause ? cause.code : undefined;
}
