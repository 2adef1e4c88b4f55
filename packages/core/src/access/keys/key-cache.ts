import type { Clock } from '../../clock.ts';
import { holderOf, type KeyHolder, type StoredKey } from './key.ts';
import { hashOf, isSameHash, keyIdIn } from './key-secret.ts';

/** A key that was revoked or rotated elsewhere counts for this much longer here. */
export const KEY_CACHED_MS = 5_000;
const USE_NOTED_EVERY_MS = 60_000;
/** Ids that are remembered, known ones and others. */
const MOST_CACHED = 10_000;

interface KeyCacheParts {
  clock: Clock;
  find(id: string): Promise<StoredKey | null>;
  /** May fail: when a key was last used is only good to know. */
  noteUse?(id: string, at: number): Promise<void>;
}

interface Cached {
  at: number;
  key: Promise<StoredKey | null>;
}

/** Finds out who shows a secret, with one look at the store in a few seconds for each key. */
export class KeyCache {
  readonly #parts: KeyCacheParts;
  readonly #keys = new Map<string, Cached>();
  readonly #used = new Map<string, number>();

  constructor(parts: KeyCacheParts) {
    this.#parts = parts;
  }

  async identify(secret: string): Promise<KeyHolder | null> {
    const id = keyIdIn(secret);
    return id === undefined ? null : this.holderBy(id, hashOf(secret));
  }

  /** For whoever has kept the hash of a secret, and not the secret. */
  async holderBy(id: string, hash: string): Promise<KeyHolder | null> {
    const key = await this.#find(id);
    if (key === null) return null;
    const now = this.#parts.clock.now();
    const holder = holderOf(key, (stored) => isSameHash(stored, hash), now);
    if (holder) this.#noteUse(id, now);
    return holder;
  }

  forget(id: string): void {
    this.#keys.delete(id);
  }

  #find(id: string): Promise<StoredKey | null> {
    const now = this.#parts.clock.now();
    const known = this.#keys.get(id);
    // A clock that was set back must not make a revoked key count for longer.
    if (known && Math.abs(now - known.at) < KEY_CACHED_MS) return known.key;
    const key = this.#parts.find(id);
    const cached = { at: now, key };
    this.#keys.delete(id);
    this.#keys.set(id, cached);
    if (this.#keys.size > MOST_CACHED) this.#keys.delete(this.#keys.keys().next().value!);
    // A store that is away must not be remembered as an unknown key.
    key.catch(() => {
      if (this.#keys.get(id) === cached) this.#keys.delete(id);
    });
    return key;
  }

  #noteUse(id: string, at: number): void {
    const before = this.#used.get(id);
    if (!this.#parts.noteUse || (before !== undefined && Math.abs(at - before) < USE_NOTED_EVERY_MS)) return;
    if (this.#used.size >= MOST_CACHED) this.#used.clear();
    this.#used.set(id, at);
    this.#parts.noteUse(id, at).catch(() => undefined);
  }
}
