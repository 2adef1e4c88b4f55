import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SharedServer {
  /** A GET answers the address of the server. The first one starts the server. */
  readonly addressUrl: string;
  /** Stops the server if it was started. */
  close(): Promise<void>;
}

/** One server for all test files of a run, whichever process they run in. It starts only when a test asks for it. */
export async function shareServer<S>(
  start: () => Promise<S>,
  addressOf: (server: S) => string,
  stop: (server: S) => Promise<void>,
): Promise<SharedServer> {
  let server: Promise<S> | undefined;
  const http = createServer((_, response) => {
    server ??= start();
    server.then(
      (started) => response.end(addressOf(started)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  return {
    addressUrl: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: async () => {
      http.close();
      http.closeAllConnections();
      const started = await server?.catch(() => undefined);
      if (started !== undefined) await stop(started);
    },
  };
}

/** The address of a shared server. */
export async function sharedAddress(addressUrl: string): Promise<string> {
  const response = await fetch(addressUrl);
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
  return answer;
}
