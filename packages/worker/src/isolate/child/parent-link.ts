import { Socket } from 'node:net';
import type { Json } from '@waybill/core';
import { type ChannelError, errorFrom, type FromChild, lineOf, type ToChild } from '../channel.ts';
import type { CallName, ChildCalls } from '../child-calls.ts';
import { LineReader } from '../process/line-reader.ts';

/** The descriptor that the worker has opened for the channel. */
const CHANNEL = 3;

/** The channel to the worker, as the process of a module sees it. */
export class ParentLink {
  readonly #socket = new Socket({ fd: CHANNEL, readable: true, writable: true });
  readonly #calls = new Map<number, { resolve(value: Json): void; reject(error: Error): void }>();
  #lastCall = 0;

  constructor(hear: (message: Exclude<ToChild, { kind: 'answer' }>) => void) {
    const hearLine = (line: string): void => {
      const message = JSON.parse(line) as ToChild;
      if (message.kind === 'answer') this.#answer(message.id, message.value, message.error);
      else hear(message);
    };
    const lines = new LineReader(Number.POSITIVE_INFINITY, hearLine, () => {});
    this.#socket.on('data', (chunk: Buffer) => lines.add(chunk));
    // Without its worker the process has nothing left to do.
    this.#socket.on('error', () => process.exit(1));
    this.#socket.on('end', () => process.exit(1));
  }

  tell(message: FromChild): void {
    this.#socket.write(`${lineOf(message)}\n`);
  }

  /** A call whose answer nobody waits for. */
  note<Name extends CallName>(call: Name, given: ChildCalls[Name]['takes']): void {
    this.tell({ kind: 'call', call, given });
  }

  call<Name extends CallName>(call: Name, given: ChildCalls[Name]['takes']): Promise<ChildCalls[Name]['answers']> {
    this.#lastCall += 1;
    const id = this.#lastCall;
    const answer = new Promise<Json>((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.tell({ kind: 'call', call, given, id });
    });
    return answer as unknown as Promise<ChildCalls[Name]['answers']>;
  }

  /** Resolves when the worker's end of the channel, stdout and stderr have everything. */
  async tellLast(message: FromChild): Promise<void> {
    await Promise.all([
      new Promise<void>((resolve) => this.#socket.write(`${lineOf(message)}\n`, () => resolve())),
      ...[process.stdout, process.stderr].map(
        (stream) => new Promise<void>((resolve) => stream.write('', () => resolve())),
      ),
    ]);
  }

  #answer(id: number, value: Json = null, error?: ChannelError): void {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    if (error === undefined) call?.resolve(value);
    else call?.reject(errorFrom(error));
  }
}
