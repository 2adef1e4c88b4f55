import { once } from 'node:events';
import { request } from 'node:http';
import type { ClientHttp2Session } from 'node:http2';
import type { Writable } from 'node:stream';
import { endOf, type WireCall, type WireEnd } from './rpc-wire.ts';

const PIECE = Buffer.alloc(64 * 1_024);

export interface Flooded extends WireEnd {
  /** Bytes that could be handed over before the answer came: what the server has read, and what lies in buffers. */
  handedOver: number;
  /** How much the buffers of this process have grown at most, those of the client among them. */
  grownBytes: number;
}

/** Sends what is given first, and then zeros up to so many bytes, for as long as the other side takes them. */
async function pour(out: Writable, first: Uint8Array, bytes: number, over: AbortSignal) {
  const before = process.memoryUsage().arrayBuffers;
  let [handedOver, most] = [0, before];
  const put = async (piece: Uint8Array) => {
    handedOver += piece.length;
    most = Math.max(most, process.memoryUsage().arrayBuffers);
    if (!out.write(piece)) await once(out, 'drain', { signal: over });
  };
  try {
    await put(first);
    while (handedOver < bytes && !over.aborted && out.writable) await put(PIECE);
    if (!over.aborted) out.end();
  } catch {
    // The answer is there, or the connection was cut.
  }
  return () => ({ handedOver, grownBytes: most - before });
}

interface Flood {
  call: Omit<WireCall, 'body'>;
  headers: Record<string, string>;
  first: Uint8Array;
  bytes: number;
}

export async function floodHttp1(url: string, { call, headers, first, bytes }: Flood): Promise<Flooded> {
  const over = new AbortController();
  const out = request(url, { method: 'POST', headers, agent: false });
  const answered = new Promise<WireEnd>((resolve, reject) => {
    out.once('response', (response) => {
      over.abort();
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.once('end', () => {
        const header = new Headers(response.headers as Record<string, string>);
        resolve(
          endOf({ ...call, body: first }, { status: response.statusCode!, header, bytes: Buffer.concat(chunks) }),
        );
      });
      response.once('error', reject);
    });
    // What breaks after the answer is of no interest.
    out.on('error', reject);
  });
  const poured = pour(out, first, bytes, over.signal);
  const end = await answered.finally(() => over.abort());
  const facts = (await poured)();
  out.destroy();
  return { ...end, ...facts };
}

export async function floodHttp2(
  client: ClientHttp2Session,
  path: string,
  { call, headers, first, bytes }: Flood,
): Promise<Flooded & { isClosed: boolean }> {
  const over = new AbortController();
  const out = client.request({ ':method': 'POST', ':path': path, te: 'trailers', ...headers });
  const chunks: Buffer[] = [];
  out.on('data', (chunk: Buffer) => chunks.push(chunk));
  const closed = new Promise<boolean>((resolve) => out.once('close', () => resolve(true)));
  const answered = new Promise<Headers>((resolve, reject) => {
    const answer = (fields: object) => resolve(new Headers(JSON.parse(JSON.stringify(fields))));
    out.once('trailers', answer);
    out.once('response', (fields) => 'grpc-status' in fields && answer(plain(fields)));
    out.on('error', reject);
  });
  const poured = pour(out, first, bytes, over.signal);
  const header = await answered.finally(() => over.abort());
  const facts = (await poured)();
  const isClosed = await closed;
  return {
    ...endOf({ ...call, body: first }, { status: 200, header, bytes: Buffer.concat(chunks) }),
    ...facts,
    isClosed,
  };
}

/** Without what HTTP/2 itself adds. */
const plain = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(':')));
