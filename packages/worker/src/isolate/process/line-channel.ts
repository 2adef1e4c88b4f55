import type { Duplex } from 'node:stream';
import type { Cause } from './ladder.ts';
import { LineReader } from './line-reader.ts';
import { asBytes } from './quantities.ts';

export type LineHook = (line: string) => unknown;

/** What a held line costs besides its text. */
const LINE_COST = 1_024;

/** Lines in both directions on descriptor 3 of a program. */
export class LineChannel {
  readonly #socket: Duplex;
  readonly #maxBytes: number;
  readonly #onBreach: (cause: Cause) => void;
  readonly #lines: LineReader;
  /** Bytes of lines whose owner has not done with them. */
  #held = 0;
  #isOver = false;

  constructor(socket: Duplex, maxBytes: number, onLine: LineHook, onBreach: (cause: Cause) => void) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#onBreach = onBreach;
    const hear = (line: string): void => {
      const held = onLine(line);
      if (held instanceof Promise) void this.#hold(line.length + LINE_COST, held);
    };
    this.#lines = new LineReader(maxBytes, hear, () =>
      this.#breach(`wrote a line of more than ${asBytes(maxBytes)} to descriptor 3`),
    );
    forgiveWrites(socket);
    socket.on('data', (chunk: Buffer) => this.#lines.add(chunk));
    socket.on('error', () => {});
  }

  /** The program is gone: what it wrote is read to its end, however much is held. */
  over(): void {
    this.#isOver = true;
    this.#socket.resume();
  }

  /** The program has ended by itself: what it wrote after its last line end is a line too. */
  finish(): void {
    this.#lines.finish();
  }

  send(line: string): void {
    if (!this.#socket.writable) return;
    if (this.#socket.writableLength > this.#maxBytes)
      this.#breach(`left more than ${asBytes(this.#maxBytes)} unread on descriptor 3`);
    else this.#socket.write(`${line}\n`);
  }

  async #hold(bytes: number, held: Promise<unknown>): Promise<void> {
    this.#held += bytes;
    if (this.#held > this.#maxBytes && !this.#isOver) this.#socket.pause();
    await held.catch(() => {});
    this.#held -= bytes;
    if (this.#held <= this.#maxBytes) this.#socket.resume();
  }

  #breach(what: string): void {
    this.#onBreach({ outcome: 'invalid_result', message: `The program ${what}.` });
  }
}

/**
 * A failed write destroys a socket, and with it what waits there to be read. A program that wrote its result and ended
 * must not lose that because we wrote to it at that moment, so writes never fail here.
 */
function forgiveWrites(socket: Duplex): void {
  const write = socket._write.bind(socket);
  socket._write = (chunk, encoding, done) => write(chunk, encoding, () => done());
  const writev = socket._writev?.bind(socket);
  if (writev) socket._writev = (chunks, done) => writev(chunks, () => done());
}
