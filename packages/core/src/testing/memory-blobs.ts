import type { BlobStore } from '../blobs/blob-store.ts';

/** Blobs in memory, of a store that a test can send away: whoever reads then gets an error. */
export function memoryBlobs(): { store: BlobStore; setAway(isAway: boolean): void } {
  const kept = new Map<string, Uint8Array>();
  let away = false;
  const store: BlobStore = {
    put: async (key, body) => void kept.set(key, body),
    get: async (key) => (away ? Promise.reject(new Error('connection refused')) : (kept.get(key) ?? null)),
    deletePrefix: async (prefix) => {
      for (const key of kept.keys()) if (key.startsWith(prefix)) kept.delete(key);
    },
    list: async () => [],
    close: async () => {},
  };
  return {
    store,
    setAway: (isAway) => {
      away = isAway;
    },
  };
}
