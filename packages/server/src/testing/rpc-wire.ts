import { gunzipSync } from 'node:zlib';
import type { DescMethod } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import type { App, Bindings } from '../http/env.ts';
import type { RpcRequest } from '../http/rpc-request.ts';
import { statusName } from '../rpc/call-end.ts';
import { all } from './rpc-clients.ts';

/** Bytes as a client sends them, and how the call ended, in any of the protocols and without a client of ours. */
export interface WireCall {
  protocol: 'connect' | 'grpc-web' | 'grpc';
  method: DescMethod;
  isJson?: boolean;
  /** Of Connect's unary calls the message itself, else envelopes. */
  body: Uint8Array | AsyncIterable<Uint8Array>;
  headers?: Record<string, string>;
  /** By the port for gRPC, as gRPC itself and calls in both directions must be. @defaultValue where it must be */
  http2?: boolean;
}

export interface WireEnd {
  /** As gRPC writes them: `OK`, `NOT_FOUND`. */
  status: string;
  message: string;
  /** The code of the catalogue. */
  code: string | undefined;
  /** Messages that came before the end. */
  messages: Uint8Array[];
}

export function envelope(data: Uint8Array | string, flags = 0): Uint8Array<ArrayBuffer> {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data;
  const whole = new Uint8Array(5 + bytes.length);
  whole[0] = flags;
  new DataView(whole.buffer).setUint32(1, bytes.length);
  whole.set(bytes, 5);
  return whole;
}

/** A streaming call of Connect with one message as JSON, for `app.request`. */
export const streamCall = (message: object): RequestInit => ({
  method: 'POST',
  headers: { 'Content-Type': 'application/connect+json' },
  body: envelope(JSON.stringify(message)),
});

export const hasEnvelopes = ({ protocol, method }: Pick<WireCall, 'protocol' | 'method'>): boolean =>
  protocol !== 'connect' || method.methodKind !== 'unary';

export function contentTypeOf({ protocol, method, isJson = false }: WireCall): string {
  const format = isJson ? 'json' : 'proto';
  if (protocol !== 'connect') return `application/${protocol}+${format}`;
  return method.methodKind === 'unary' ? `application/${format}` : `application/connect+${format}`;
}

const pathOf = ({ parent, name }: DescMethod): string => `/${parent.typeName}/${name}`;

/** Asks the app itself, as its server would: no socket is in between. */
export async function sendWire(app: App, call: WireCall): Promise<WireEnd> {
  const { protocol, method, http2 = protocol === 'grpc' || method.methodKind === 'bidi_streaming' } = call;
  const url = `http://localhost${pathOf(method)}`;
  const headers = { 'content-type': contentTypeOf(call), ...call.headers };
  const body = call.body instanceof Uint8Array ? once(call.body) : call.body;
  if (!http2) {
    const init = { method: 'POST', headers, body: ReadableStream.from(body), duplex: 'half' };
    const answer = await app.request(url, init as RequestInit);
    const chunks = answer.body === null ? [] : await all(answer.body as AsyncIterable<Uint8Array>);
    return endOf(call, { status: answer.status, header: answer.headers, bytes: Buffer.concat(chunks) });
  }
  const leaving = new AbortController();
  const rpc: RpcRequest = {
    request: {
      ...{ httpVersion: '2.0', method: 'POST', url, header: new Headers(headers), signal: leaving.signal },
      ...{ body: body as AsyncIterable<Uint8Array<ArrayBuffer>>, contextValues: undefined as never },
    },
  };
  const bindings: Bindings = { rpc };
  const decided = await app.fetch(new Request(url, { method: 'POST', headers, signal: leaving.signal }), bindings);
  const { response } = rpc;
  if (!response) return endOf(call, { status: decided.status, header: decided.headers, bytes: Buffer.alloc(0) });
  const chunks = response.body ? await all(response.body) : [];
  const { status, header = new Headers(), trailer } = response;
  return endOf(call, { status, header: trailer ?? header, bytes: Buffer.concat(chunks) });
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

interface Answer {
  status: number;
  /** The trailers, where the protocol has them. */
  header: Headers;
  bytes: Buffer;
}

export function endOf(call: WireCall, { status, header, bytes }: Answer): WireEnd {
  const isFramed = hasEnvelopes(call);
  const frames = isFramed && status === 200 ? framesIn(bytes) : [];
  const messages = frames.filter(({ flags }) => (flags & ~1) === 0).map(({ data }) => data);
  const last = frames.find(({ flags }) => (flags & ~1) !== 0);
  if (call.protocol === 'connect') {
    if (!isFramed && status === 200) return { status: 'OK', message: '', code: undefined, messages: [bytes] };
    const json = JSON.parse(String(isFramed && status === 200 ? last!.data : bytes));
    const error = isFramed && status === 200 ? json.error : json;
    if (error === undefined) return { status: 'OK', message: '', code: undefined, messages };
    const code = json.metadata?.['waybill-code']?.[0] ?? header.get('waybill-code') ?? undefined;
    return { status: String(error.code).toUpperCase(), message: error.message, code, messages };
  }
  const trailer = call.protocol === 'grpc' ? header : headersIn(last);
  const number = Number(trailer.get('grpc-status') ?? Code.Unknown);
  const message = decodeURIComponent(trailer.get('grpc-message') ?? '');
  const code = trailer.get('waybill-code') ?? undefined;
  return { status: statusName(number === 0 ? undefined : number), message, code, messages };
}

function framesIn(bytes: Buffer): { flags: number; data: Buffer }[] {
  const frames: { flags: number; data: Buffer }[] = [];
  for (let at = 0; at < bytes.length; ) {
    const flags = bytes[at]!;
    const end = at + 5 + bytes.readUInt32BE(at + 1);
    const data = bytes.subarray(at + 5, end);
    frames.push({ flags, data: flags & 1 ? gunzipSync(data) : data });
    at = end;
  }
  return frames;
}

/** gRPC-Web has its trailers in the last frame. */
function headersIn(frame: { data: Buffer } | undefined): Headers {
  const lines = String(frame?.data ?? '')
    .split('\r\n')
    .filter((line) => line !== '');
  return new Headers(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
}
