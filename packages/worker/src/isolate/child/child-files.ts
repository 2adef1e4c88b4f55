import type { RunFiles } from '../../run-files.ts';
import { LARGEST_FILE, PART_BYTES, tooLarge } from '../file-transfer.ts';
import type { ParentLink } from './parent-link.ts';

/** Files of the job by way of the worker: part by part, and one file after another. */
export class ChildFiles implements RunFiles {
  readonly #link: ParentLink;
  #last: Promise<unknown> = Promise.resolve();

  constructor(link: ParentLink) {
    this.#link = link;
  }

  put = (name: string, data: Uint8Array): Promise<void> => {
    // A copy, because the caller may go on writing to it.
    const bytes = Buffer.from(data);
    return this.#next(async () => {
      if (bytes.length > LARGEST_FILE) throw tooLarge(name);
      for (let at = 0; ; at += PART_BYTES) {
        const isLast = at + PART_BYTES >= bytes.length;
        const part = bytes.subarray(at, at + PART_BYTES).toString('base64');
        await this.#link.call('file-put', { name, bytes: part, isLast });
        if (isLast) return;
      }
    });
  };

  get = (name: string): Promise<Uint8Array | null> =>
    this.#next(async () => {
      const parts: Buffer[] = [];
      for (;;) {
        const part = await this.#link.call('file-get', { name, part: parts.length });
        if (part === null) return null;
        parts.push(Buffer.from(part.bytes, 'base64'));
        if (part.isLast) return new Uint8Array(Buffer.concat(parts));
      }
    });

  #next<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work);
    this.#last = done.catch(() => {});
    return done;
  }
}
