/** Numbers of 0 to 2^53 - 1 in seven bits to a byte, least ones first; small ones are mostly what there is. */
export class ByteWriter {
  #bytes = Buffer.allocUnsafe(1_024);
  #length = 0;

  byte(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  number(value: number): void {
    this.#room(8);
    let rest = value;
    while (rest >= 0x80) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    this.#bytes[this.#length++] = rest;
  }

  /** Also below 0. */
  signed(value: number): void {
    this.number(value < 0 ? -value * 2 - 1 : value * 2);
  }

  bytes(value: Uint8Array): void {
    this.number(value.length);
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  text(value: string): void {
    this.bytes(Buffer.from(value));
  }

  done(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  #room(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#length + count));
    this.#bytes.copy(grown, 0, 0, this.#length);
    this.#bytes = grown;
  }
}

/** Reads what `ByteWriter` wrote; fails where the bytes end too early or a number is too large. */
export class ByteReader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isOver(): boolean {
    return this.#at >= this.#bytes.length;
  }

  byte(): number {
    const value = this.#bytes[this.#at++];
    if (value === undefined) throw new RangeError('The bytes end too early.');
    return value;
  }

  number(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = this.byte();
      value += (byte & 0x7f) * factor;
      if (value > Number.MAX_SAFE_INTEGER) throw new RangeError('A number is too large.');
      if (byte < 0x80) return value;
    }
  }

  signed(): number {
    const value = this.number();
    return value % 2 === 1 ? -(value + 1) / 2 : value / 2;
  }

  /** A copy, so that a small part does not keep the whole alive. */
  bytes(): Uint8Array {
    return new Uint8Array(this.#take());
  }

  text(): string {
    return this.#take().toString();
  }

  #take(): Buffer {
    const length = this.number();
    if (length > this.#bytes.length - this.#at) throw new RangeError('The bytes end too early.');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}
