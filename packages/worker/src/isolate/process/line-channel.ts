import type { Duplex } from 'node:stream';
import type { Cause } from './ladder.ts';
import { LineReader } from './line-reader.ts';
import { asBytes } from './quantities.ts';

/** Lines in both directions on descriptor 3 of a program. */
export class LineChannel {
  readonly #socket: Duplex;
  readonly #maxBytes: number;
  readonly #onBreach: (cause: Cause) => void;
  readonly #lines: LineReader;

  constructor(socket: Duplex, maxBytes: number, onLine: (line: string) => void, onBreach: (cause: Cause) => void) {
    this.#socket = socket;
    this.#maxBytes = maxBytes;
    this.#onBreach = onBreach;
    this.#lines = new LineReader(maxBytes, onLine, () =>
      this.#breach(`wrote a line of more than ${asBytes(maxBytes)} to descriptor 3`),
    );
    forgiveWrites(socket);
    socket.on('data', (chunk: Buffer) => this.#lines.add(chunk));
    socket.on('error', () => {});
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
