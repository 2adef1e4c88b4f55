import { type FollowedItem, MISSED_OUTPUT, outputLoss, type Stream } from '@waybill/core';

const NEW_LINE = 10;

/**
 * The bytes of output. Where some are missing, a line of its own says so: a reader would else take the rest for all of it. Breaking
 * the answer off instead would lose what comes after, and make clients ask for it again and again.
 */
export class OutputText {
  readonly #stream: Stream | undefined;
  #hasMissed = false;
  #atLineStart = true;

  /** Undefined: both streams. */
  constructor(stream: Stream | undefined) {
    this.#stream = stream;
  }

  /** Retention has removed what would have come next. */
  miss(): void {
    this.#hasMissed = true;
  }

  async *of(items: AsyncIterable<FollowedItem>): AsyncGenerator<Uint8Array> {
    for await (const item of items) {
      if (this.#hasMissed) yield this.#missed();
      if (item.kind !== 'entry') continue;
      const loss = outputLoss(item.entry);
      if (loss !== undefined) yield this.#line(loss);
      const { output, stream = 'stdout' } = item.entry;
      if (!output || output.length === 0 || (this.#stream !== undefined && this.#stream !== stream)) continue;
      this.#atLineStart = output.at(-1) === NEW_LINE;
      yield output;
    }
    if (this.#hasMissed) yield this.#missed();
  }

  #missed(): Uint8Array {
    this.#hasMissed = false;
    return this.#line(MISSED_OUTPUT);
  }

  #line(text: string): Uint8Array {
    const begin = this.#atLineStart ? '' : '\n';
    this.#atLineStart = true;
    return Buffer.from(`${begin}[waybill] ${text}\n`);
  }
}
