import type { Json } from '@waybill/core';
import { InvalidResult } from '../execute/outcome.ts';

/** The result that a program prints: its stdout, if that is one JSON document. */
export class PrintedResult {
  readonly #maxBytes: number;
  /** The first ones, up to as many as a result may have. */
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    const room = this.#maxBytes - this.#bytes;
    if (room > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, room)));
    this.#bytes += chunk.length;
  }

  value(): Json {
    const text = Buffer.concat(this.#chunks).toString('utf8');
    if (this.#bytes <= this.#maxBytes) return parsed(text);
    if (!beginsDocument(text)) return null;
    throw new InvalidResult(
      `stdout begins a JSON document and has ${this.#bytes} bytes, more than ${this.#maxBytes}. Print less, or keep it as a file`,
    );
  }
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

const BEGIN = /^\s*(?:\{\s*(?:"|$)|\[\s*(?:["[{\d-]|true|false|null|$))/;

/** Whether a list or an object begins here and does not end here. A line of JSON ends, and so does `[info]`. */
function beginsDocument(text: string): boolean {
  if (!BEGIN.test(text)) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (isText && character === '\\') at += 1;
    else if (character === '"') isText = !isText;
    else if (isText) continue;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) return false;
    }
  }
  return true;
}
