import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** AWS takes no request whose signed time is further from its own. */
const TAKEN_MS = 300_000;

export interface SigningFront {
  readonly endpoint: string;
  /** Requests that were refused for their time. */
  refused: number;
  close(): Promise<void>;
}

/** An emulator as it would be with AWS's look at the time of signatures, which emulators do not have. */
export async function signingFront(target: string): Promise<SigningFront> {
  const server = createServer((asked, answer) => {
    const signed = String(asked.headers['x-amz-date']).replace(/^(....)(..)(..T..)(..)(..Z)$/, '$1-$2-$3:$4:$5');
    if (!(Math.abs(Date.parse(signed) - Date.now()) < TAKEN_MS)) {
      front.refused += 1;
      asked.resume();
      const __type = 'com.amazon.coral.service#InvalidSignatureException';
      const body = JSON.stringify({ __type, message: `Signature expired: ${signed}` });
      answer.writeHead(400, { 'content-type': 'application/x-amz-json-1.0' }).end(body);
      return;
    }
    const { method, url, headers } = asked;
    const passed = request(new URL(url ?? '/', target), { method, headers }, (got) => {
      answer.writeHead(got.statusCode ?? 502, got.headers);
      got.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const front: SigningFront = {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused: 0,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
  return front;
}
