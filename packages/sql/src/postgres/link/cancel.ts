import { connect } from 'node:net';
import type { PoolClient } from './pg-types.ts';

const CANCEL_REQUEST = 80_877_102;
const TIMEOUT_MS = 5_000;

/** What `pg` knows of a connection but does not tell in its types. */
interface Backend {
  host?: string;
  port?: number;
  processID?: number | null;
  secretKey?: number | null;
}

/**
 * Asks the server to give up a statement that nobody waits for any more. Without that it would hold its locks and its
 * connection while the call is repeated on another. Best effort, and unencrypted as the protocol has it.
 */
export function cancelStatement(client: PoolClient): void {
  const { host, port, processID, secretKey } = client as unknown as Backend;
  if (!host || !port || !processID || !secretKey) return;
  const message = Buffer.alloc(16);
  message.writeInt32BE(16, 0);
  message.writeInt32BE(CANCEL_REQUEST, 4);
  message.writeInt32BE(processID, 8);
  message.writeInt32BE(secretKey, 12);
  const socket = host.startsWith('/') ? connect(`${host}/.s.PGSQL.${port}`) : connect(port, host);
  socket.on('error', () => {});
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy());
  socket.unref();
  socket.end(message);
}
