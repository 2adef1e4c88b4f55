import type { Readable } from 'node:stream';
import type { ContainedHooks, OutputStream } from '../contained.ts';
import type { Cause } from './ladder.ts';
import { OutputTail } from './output-tail.ts';
import { asBytes } from './quantities.ts';

/** Reads both streams as they come, so the program never waits for the worker. Drops what comes after the limit. */
export class OutputReader {
  readonly #maxBytes: number;
  readonly #hear: NonNullable<ContainedHooks['onOutput']>;
  readonly #onBreach: (cause: Cause) => void;
  readonly tail = new OutputTail();
  /** Of both streams, with what was dropped. */
  bytes = 0;

  constructor(maxBytes: number, hear: NonNullable<ContainedHooks['onOutput']>, onBreach: (cause: Cause) => void) {
    this.#maxBytes = maxBytes;
    this.#hear = hear;
    this.#onBreach = onBreach;
  }

  read(readable: Readable, stream: OutputStream): void {
    readable.on('data', (chunk: Buffer) => this.#add(chunk, stream));
    readable.on('error', () => {});
  }

  #add(chunk: Buffer, stream: OutputStream): void {
    const room = Math.max(0, this.#maxBytes - this.bytes);
    this.bytes += chunk.length;
    if (chunk.length > room)
      this.#onBreach({ outcome: 'output_limit', message: `The program wrote more than ${asBytes(this.#maxBytes)}.` });
    if (room === 0) return;
    // A copy, because a small chunk may be a part of a buffer of 64 KB.
    const kept = Buffer.from(chunk.subarray(0, room));
    this.tail.add(kept, stream);
    this.#hear(kept, stream);
  }
}
