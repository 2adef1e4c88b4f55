import { grownPayload } from './link/grown-payload.ts';
import type { Link } from './link/link.ts';

/** Other processes are told at once, and then at most so often. */
const QUIET_MS = 20;

/**
 * Tells this process and others that journals have grown. Others are told by a statement of its own after the commit: a
 * notification in the transaction of the append would make all appends of the database wait for each other.
 */
export class GrownNotifier {
  readonly #link: Pick<Link, 'query' | 'grown' | 'name'>;
  readonly #notify: string;
  readonly #waiting = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(link: Pick<Link, 'query' | 'grown' | 'name'>, notify: string) {
    this.#link = link;
    this.#notify = notify;
  }

  grown(ids: readonly string[]): void {
    if (ids.length === 0) return;
    this.#link.grown(ids);
    for (const id of ids) this.#waiting.add(id);
    if (this.#timer === null) this.#send();
  }

  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }

  #send(): void {
    this.#timer = null;
    if (this.#waiting.size === 0) return;
    this.#timer = setTimeout(() => this.#send(), QUIET_MS).unref();
    const payload = grownPayload(this.#link.name, [...this.#waiting]);
    this.#waiting.clear();
    // Only a hint: who misses it looks again later.
    this.#link.query(this.#notify, [payload]).catch(() => {});
  }
}
