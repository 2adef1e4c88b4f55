import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { WaybillError } from '@waybill/core';
import { IN_MEMORY } from './protocol.ts';

/**
 * Whether the file that was opened is still the one at its path. SQLite goes on writing into a file that was deleted, and
 * all of that is gone when the last process closes it.
 */
export class FileCheck {
  readonly #path: string;
  readonly #opened: Stats | undefined;

  constructor(path: string) {
    // Absolute, because the process may change its folder.
    this.#path = resolve(path);
    this.#opened = path === IN_MEMORY ? undefined : this.#look();
  }

  /** Before each transaction; a look costs a few microseconds. */
  assertThere(): void {
    if (this.#opened === undefined) return;
    const found = this.#look();
    if (found !== undefined && isSame(found, this.#opened)) return;
    const what = found === undefined ? 'was deleted' : 'was replaced by another one';
    throw new WaybillError('unavailable', `The database file ${what} while it was open. (${this.#path})`, {
      hint: 'Put the file back in its place, or restart this process to open what is there now.',
    });
  }

  #look(): Stats | undefined {
    return statSync(this.#path, { throwIfNoEntry: false });
  }
}

/** Both must differ: some file systems number a file anew while it stays the same. */
const isSame = (found: Stats, opened: Stats): boolean =>
  (found.ino === opened.ino && found.dev === opened.dev) || found.birthtimeMs === opened.birthtimeMs;
