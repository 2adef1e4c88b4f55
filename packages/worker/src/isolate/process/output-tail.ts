import { StringDecoder } from 'node:string_decoder';
import type { OutputStream } from '../contained.ts';

const TAIL_BYTES = 64 * 1024;

/** The end of what both streams said, in the order in which it came. */
export class OutputTail {
  // One for each stream, because a character may come in two chunks, with a chunk of the other stream between them.
  readonly #decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  #pieces: string[] = [];
  /** In UTF-16 units: each is at least one byte of UTF-8, so this never cuts too early. */
  #length = 0;

  add(chunk: Buffer, stream: OutputStream): void {
    this.#keep(this.#decoders[stream].write(chunk));
  }

  #keep(text: string): void {
    if (text === '') return;
    this.#pieces.push(text);
    this.#length += text.length;
    while (this.#length - this.#pieces[0]!.length >= TAIL_BYTES) this.#length -= this.#pieces.shift()!.length;
    // A program that writes byte by byte would otherwise leave 64 thousand strings here.
    if (this.#pieces.length > 1024) this.#pieces = [this.#pieces.join('')];
  }

  /** At most 64 KB as UTF-8. Called once, at the end. */
  text(): string {
    this.#keep(this.#decoders.stdout.end());
    this.#keep(this.#decoders.stderr.end());
    const bytes = Buffer.from(this.#pieces.join(''));
    let start = Math.max(0, bytes.length - TAIL_BYTES);
    // Not in the middle of a character: its later bytes begin with the bits 10.
    while (start < bytes.length && (bytes[start]! & 0xc0) === 0x80) start += 1;
    return bytes.toString('utf8', start);
  }
}
