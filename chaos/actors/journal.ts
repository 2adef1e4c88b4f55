import { openSync, writeSync } from 'node:fs';
import type { Line } from '../evidence/note.ts';

type Unstamped<L> = L extends Line ? Omit<L, 'at'> : never;

/**
 * What an actor remembers of itself. One write for each line to a file that is only appended to: what was written
 * outlives the process, however it ends, and the machine is not what crashes here.
 */
export class Journal {
  readonly #file: number;

  constructor(path: string) {
    this.#file = openSync(path, 'a');
  }

  note(line: Unstamped<Line>): void {
    writeSync(this.#file, `${JSON.stringify({ ...line, at: Date.now() })}\n`);
  }
}
