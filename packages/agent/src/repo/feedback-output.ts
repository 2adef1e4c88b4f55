import { stripVTControlCharacters } from 'node:util';
import type { Redactor } from '../security/redactor.ts';

const LONGEST = 3_000;
/** Of the beginning, so much that a secret at its cut is far from what is shown. */
const HEAD_BYTES = 16_384;

/** The beginning of what a command prints, as it comes; its end is kept by who runs it. */
export class FeedbackOutput {
  readonly #chunks: Buffer[] = [];
  #kept = 0;
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#kept >= HEAD_BYTES) return;
    const kept = chunk.subarray(0, HEAD_BYTES - this.#kept);
    this.#chunks.push(kept);
    this.#kept += kept.length;
  }

  /** Head and tail, without secrets and without the colours of a terminal. */
  text(lastOutput: string, redactor: Redactor): string {
    const clean = (text: string): string =>
      redactor.text(stripVTControlCharacters(text).toWellFormed(), text.length * 2 + 1).trim();
    const isWhole = Buffer.byteLength(lastOutput) >= this.#bytes;
    const tail = clean(lastOutput);
    if (isWhole && tail.length <= LONGEST) return tail;
    const head = isWhole ? tail : clean(Buffer.concat(this.#chunks).toString('utf8'));
    const half = LONGEST / 2 - 30;
    return `${head.slice(0, half)}\n[.. ${isWhole ? 'some' : 'much'} output left out ..]\n${tail.slice(-half)}`;
  }
}
