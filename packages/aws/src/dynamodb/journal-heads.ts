import type { GrownListener, Job } from '@waybill/core';
import type { JournalHead } from './journal-items.ts';

/** A run that may say something, and how far the journal of its job has come. */
export interface KnownRun {
  /** Without its large fields. */
  job: Job;
  head: JournalHead | null;
}

/** Runs of this process at most; one more costs the oldest of them a read. */
const MOST = 5_000;

/**
 * What this process last wrote of each journal, which spares an append its read. It may be out of date: the condition of
 * the write decides, and every other answer than `stored` is given only after a read.
 */
export class JournalHeads {
  readonly #known = new Map<string, KnownRun>();

  /** Forgets it, too: what comes of the write that follows is not known until it is answered. */
  take(name: string): KnownRun | undefined {
    const known = this.#known.get(name);
    this.#known.delete(name);
    return known;
  }

  put(name: string, known: KnownRun): void {
    this.#known.set(name, known);
    if (this.#known.size <= MOST) return;
    const [oldest] = this.#known.keys();
    this.#known.delete(oldest!);
  }
}

/** Tells the listeners of this process which journals have grown by it. DynamoDB tells nothing of other processes. */
export class GrownNotifier {
  readonly #listeners = new Set<GrownListener>();

  listen(listener: GrownListener): () => void {
    // Wrapped, so that one function may listen twice and end once.
    const own: GrownListener = (ids) => listener(ids);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  tell(ids: readonly string[]): void {
    if (ids.length > 0) for (const listener of [...this.#listeners]) listener([...new Set(ids)]);
  }
}
