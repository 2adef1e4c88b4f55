import { checkJson, Fields, type JsonObject, WaybillError } from '@waybill/core';
import type { Ctx } from './env.ts';
import { MEDIA_TYPE } from './headers.ts';

const ACCEPTED_TYPES: ReadonlySet<string> = new Set([MEDIA_TYPE, 'application/json']);

/** The JSON of a request, as sent. Whatever is wrong with it is refused before anything else looks at it. */
export async function readJson(c: Ctx, maxBytes: number): Promise<unknown> {
  const json = await tryReadJson(c.req.raw, maxBytes);
  if (json === undefined) throw new WaybillError('invalid_payload', 'The request has no body.');
  return json;
}

/** The JSON object of a request, to be read field by field. */
export async function readBody(c: Ctx, maxBytes: number): Promise<Fields> {
  return new Fields(await readJson(c, maxBytes));
}

/** The JSON object of a request as a whole, for the engine to read. */
export async function readObject(c: Ctx, maxBytes: number): Promise<JsonObject> {
  const json = await readJson(c, maxBytes);
  new Fields(json);
  return json as JsonObject;
}

/** For calls whose body may be left out. */
export async function readOptionalBody(c: Ctx, maxBytes: number): Promise<Fields> {
  return new Fields((await tryReadJson(c.req.raw, maxBytes)) ?? {});
}

async function tryReadJson(request: Request, maxBytes: number): Promise<unknown> {
  const type = request.headers.get('content-type');
  if (type !== null) checkType(type);
  const bytes = await readBytes(request, maxBytes);
  if (bytes.byteLength === 0) return undefined;
  if (type === null) checkType('');
  const json = parse(bytes);
  checkJson(json);
  return json;
}

/** Besides being the rule, this keeps web pages out: a browser asks first before it sends these types elsewhere. */
function checkType(header: string): void {
  const type = header.split(';', 1)[0]!.trim().toLowerCase();
  if (ACCEPTED_TYPES.has(type)) return;
  throw new WaybillError('invalid_request', `The Content-Type must be ${MEDIA_TYPE} or application/json.`, {
    details: { header: 'Content-Type', allowed: [...ACCEPTED_TYPES] },
  });
}

async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const announced = request.headers.get('content-length');
  // Node holds a body to its announced length, so that one can be read at once, which is much faster than a stream.
  if (announced !== null) {
    if (Number(announced) > maxBytes) throw tooLarge(maxBytes);
    const bytes = new Uint8Array(await request.arrayBuffer().catch(cutShort));
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  }
  return request.body === null ? new Uint8Array() : readStream(request.body, maxBytes);
}

const FIRST_BYTES = 4_096;

/** Each one costs time, however small it is: a megabyte of chunks of one byte would keep the server busy for seconds. */
const MOST_CHUNKS = 16_384;

/** Stops at the limit and copies every chunk, so that an endless body costs no more memory than an allowed one. */
async function readStream(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array> {
  const reader = body.getReader();
  let bytes = new Uint8Array(Math.min(FIRST_BYTES, maxBytes));
  let size = 0;
  for (let chunks = 1; ; chunks += 1) {
    const { done, value } = await reader.read().catch(cutShort);
    if (done) return bytes.subarray(0, size);
    const needed = size + value.byteLength;
    if (needed > maxBytes || chunks > MOST_CHUNKS) {
      reader.cancel().catch(() => {});
      throw needed > maxBytes ? tooLarge(maxBytes) : tooManyChunks();
    }
    if (needed > bytes.byteLength) {
      const larger = new Uint8Array(Math.min(maxBytes, Math.max(needed, bytes.byteLength * 2)));
      larger.set(bytes.subarray(0, size));
      bytes = larger;
    }
    bytes.set(value, size);
    size = needed;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The parser's own message quotes the body, which may hold secrets, so it goes no further. */
function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new WaybillError('invalid_payload', 'The body is not valid JSON in UTF-8.');
  }
}

function cutShort(): never {
  throw new WaybillError('invalid_payload', 'The body ended before it was complete.');
}

const tooLarge = (maxBytes: number): WaybillError =>
  new WaybillError('payload_too_large', `The body must have at most ${maxBytes} bytes.`, {
    details: { max_bytes: maxBytes },
  });

const tooManyChunks = (): WaybillError =>
  new WaybillError('payload_too_large', `The body must come in at most ${MOST_CHUNKS} chunks.`, {
    details: { max_chunks: MOST_CHUNKS },
    hint: 'Send larger chunks, or a body with a Content-Length.',
  });
