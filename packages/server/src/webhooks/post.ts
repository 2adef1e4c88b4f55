import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { SinkRefusal } from '@waybill/core';
import { checkedLookup } from './checked-lookup.ts';
import type { Resolve } from './host-resolver.ts';
import { checkTarget, type TargetPolicy } from './target.ts';

const MOST_ANSWER_BYTES = 64 * 1024;

export interface PostOptions extends TargetPolicy {
  /** For all of it: resolving, connecting, sending, and the answer. */
  timeoutMs: number;
  resolve: Resolve;
}

export interface Posted {
  status: number;
  retryAfter: string | undefined;
  /** As much of the answer as is read. */
  text: string;
}

/**
 * Sends one request and answers its status, whatever it is. Follows no redirect, uses no proxy, and reads a bounded part
 * of the answer. Fails with a `SinkRefusal` that names neither the address nor anything that was sent.
 */
export async function post(
  target: string,
  { headers, body }: { headers: Record<string, string>; body: string },
  options: PostOptions,
  signal: AbortSignal,
): Promise<Posted> {
  // The resolver is not asked about an address: this is where it is checked.
  const url = checkTarget(target, options);
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const over = AbortSignal.any([signal, deadline]);
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(url, {
      method: 'POST',
      // A connection of its own: one that is kept may be closed by the receiver at the moment of the next delivery.
      agent: false,
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body) },
      signal: over,
      lookup: checkedLookup(options.resolve, url, options, over),
    });
    let posted: Posted | undefined;
    const fail = (error: Error) => {
      if (posted) resolve(posted);
      else reject(refusalOf(error, deadline.aborted ? options.timeoutMs : undefined));
    };
    request.once('response', (answer) => {
      const head = { status: answer.statusCode ?? 0, retryAfter: answer.headers['retry-after'] };
      posted = { ...head, text: '' };
      readSome(answer, (text) => {
        request.destroy();
        resolve({ ...head, text });
      });
    });
    // Without a listener Node ends a request that is answered with 101, and emits neither a response nor an error.
    request.once('upgrade', ({ statusCode = 0 }, socket) => {
      socket.destroy();
      resolve({ status: statusCode, retryAfter: undefined, text: '' });
    });
    request.on('error', fail);
    // However the request ends, and at the deadline whatever it does: the caller waits for one of these.
    request.once('close', () => fail(CLOSED));
    over.addEventListener('abort', () => fail(CLOSED), { once: true });
    request.end(body);
  });
}

/** To its end or up to a bound, so that the receiver can end its answer. */
function readSome(answer: IncomingMessage, done: (text: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = () => done(Buffer.concat(chunks).toString('utf8'));
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES) end();
    else chunks.push(chunk);
  });
  for (const event of ['end', 'error', 'close']) answer.once(event, end);
}

const CLOSED = Object.assign(new Error('closed'), { code: 'ECONNRESET' });

const REASONS: Readonly<Record<string, string>> = {
  PRIVATE_ADDRESS: 'The name resolves to addresses in private ranges only.',
  PLAIN_HTTP: 'Plain http is allowed to receivers in the ranges of --webhook-target only.',
  ENOTFOUND: 'The name of the receiver is unknown.',
  DNS_ETIMEOUT: 'The name servers did not answer.',
  ECONNREFUSED: 'The receiver refused the connection.',
  ECONNRESET: 'The receiver closed the connection.',
};

function refusalOf(error: Error & { code?: unknown }, timedOutMs: number | undefined): SinkRefusal {
  if (timedOutMs !== undefined) return new SinkRefusal(`The receiver did not answer within ${timedOutMs / 1_000} s.`);
  const code = typeof error.code === 'string' && /^[A-Z0-9_]{1,64}$/.test(error.code) ? error.code : 'unknown error';
  return new SinkRefusal(REASONS[code] ?? `The receiver could not be reached (${code}).`);
}
