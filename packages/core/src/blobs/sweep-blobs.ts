import type { Store } from '../store/store.ts';
import type { BlobInfo, BlobStore } from './blob-store.ts';
import { folderOf, ownerOf } from './reference.ts';

const PAGE = 500;
/** Pages looked through in one go, so that a large store of blobs is gone through little by little. */
const MOST_PAGES = 20;
/** Younger blobs may belong to a row that is only now being written. */
const GRACE_MS = 60 * 60_000;
/** Folders that may fail to go in one round before it is given up. */
const MOST_FAILURES = 10;

/**
 * Removes the blobs of jobs that are gone, however they went: pruned, expired, dropped with a partition, kept by no
 * queue, or never written because somebody crashed right before. Idempotent, and any number of servers may do it.
 * Events may refer to blobs too and outlive their job, so nothing goes before the events of its time have gone.
 */
export class BlobSweep {
  readonly #store: Store;
  readonly #blobs: BlobStore;
  #after: string | undefined;

  /** The store as it is below the payloads: to see whether a row is there, none of its payloads is needed. */
  constructor(store: Store, blobs: BlobStore) {
    this.#store = store;
    this.#blobs = blobs;
  }

  /** Goes on where it stopped, and from the beginning when it is through. Answers how many jobs it cleared away. */
  async round(eventsMs: number, signal: AbortSignal): Promise<number> {
    const before = this.#store.clock.now() - Math.max(eventsMs, GRACE_MS);
    let cleared = 0;
    const failures: unknown[] = [];
    for (let pages = 0; pages < MOST_PAGES && !signal.aborted; pages += 1) {
      const page = await this.#page();
      const old = [...page.folders.values()].filter(({ putAt }) => putAt < before);
      cleared += await this.#clear(old, failures);
      // Ids begin with the time they were made at: behind a page of young blobs there are hardly older ones.
      this.#after = page.isLast || old.length === 0 ? undefined : page.end;
      if (this.#after === undefined) break;
    }
    if (failures.length > 0) throw failures[0];
    return cleared;
  }

  async #page(): Promise<{ folders: Map<string, BlobInfo>; end: string | undefined; isLast: boolean }> {
    const limit = Math.min(PAGE, this.#store.capabilities.maxBatch);
    const listed = await this.#blobs.list('jobs/', { limit, ...(this.#after !== undefined && { after: this.#after }) });
    const isLast = listed.length < limit;
    const folders = new Map<string, BlobInfo>();
    const ends = new Map<string, string>();
    for (const { key, putAt } of listed) {
      const owner = ownerOf(key);
      if (!owner) continue;
      const folder = folderOf(owner);
      folders.set(folder, { key, putAt: Math.max(putAt, folders.get(folder)?.putAt ?? putAt) });
      ends.set(folder, key);
    }
    let end = listed.at(-1)?.key;
    const last = [...folders.keys()].at(-1);
    // The folder at the end of the page may go on behind it, with blobs that are younger.
    if (!isLast && folders.size > 1) {
      folders.delete(last!);
      end = ends.get([...folders.keys()].at(-1)!);
    }
    return { folders, end, isLast };
  }

  async #clear(old: readonly BlobInfo[], failures: unknown[]): Promise<number> {
    if (old.length === 0) return 0;
    const owners = old.map(({ key }) => ownerOf(key)!);
    const rows = await this.#store.get(owners);
    const gone = owners.filter((_, index) => rows[index] === null);
    for (const owner of gone) {
      try {
        await this.#blobs.deletePrefix(folderOf(owner));
      } catch (error) {
        // One that cannot be removed does not keep the others; many tell of a blob store that is away.
        failures.push(error);
        if (failures.length >= MOST_FAILURES) throw error;
      }
    }
    return gone.length;
  }
}
