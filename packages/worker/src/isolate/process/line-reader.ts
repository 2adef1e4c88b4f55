const NEWLINE = 0x0a;
const FIRST_BYTES = 4096;

/** Cuts a stream of bytes into lines, and never holds more of a line than `maxBytes`. */
export class LineReader {
  readonly #maxBytes: number;
  readonly #onLine: (line: string) => void;
  readonly #onTooLong: () => void;
  /** The line as far as it came. It doubles when it is full, so that a line in many small pieces costs no more. */
  #line = Buffer.alloc(0);
  #bytes = 0;
  #tooLong = false;

  constructor(maxBytes: number, onLine: (line: string) => void, onTooLong: () => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  add(chunk: Buffer): void {
    let start = 0;
    while (start < chunk.length && !this.#tooLong) {
      const end = chunk.indexOf(NEWLINE, start);
      this.#hold(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      this.#tell();
      start = end + 1;
    }
  }

  /** The stream has ended: what came after its last line end is a line too. */
  finish(): void {
    if (this.#bytes > 0) this.#tell();
  }

  #tell(): void {
    if (this.#tooLong) return;
    const line = this.#line.toString('utf8', 0, this.#bytes);
    this.#bytes = 0;
    // The space of a huge line is not kept for the small ones after it.
    if (this.#line.length > 16 * FIRST_BYTES) this.#line = Buffer.alloc(0);
    this.#onLine(line);
  }

  #hold(piece: Buffer): void {
    const bytes = this.#bytes + piece.length;
    if (bytes > this.#maxBytes) {
      this.#tooLong = true;
      this.#line = Buffer.alloc(0);
      this.#bytes = 0;
      this.#onTooLong();
      return;
    }
    if (bytes > this.#line.length) {
      const larger = Buffer.alloc(Math.max(bytes, this.#line.length * 2, FIRST_BYTES));
      this.#line.copy(larger, 0, 0, this.#bytes);
      this.#line = larger;
    }
    piece.copy(this.#line, this.#bytes);
    this.#bytes = bytes;
  }
}
