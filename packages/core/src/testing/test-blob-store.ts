import { describe, expect, it, onTestFinished } from 'vitest';
import type { BlobStore } from '../blobs/blob-store.ts';

export interface BlobStoreUnderTest {
  blobs: BlobStore;
  /** Called when the test is over, whatever came of it. */
  close(): Promise<void>;
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The contract of a BlobStore. The factory makes a fresh, empty one for every test. */
export function testBlobStore(name: string, factory: () => Promise<BlobStoreUnderTest>): void {
  const open = async (): Promise<BlobStore> => {
    const { blobs, close } = await factory();
    onTestFinished(close);
    return blobs;
  };
  const filled = async (...keys: string[]): Promise<BlobStore> => {
    const blobs = await open();
    for (const key of keys) await blobs.put(key, bytes(key));
    return blobs;
  };
  const keysOf = async (blobs: BlobStore, prefix: string, page: { after?: string; limit?: number } = {}) =>
    (await blobs.list(prefix, { limit: 100, ...page })).map(({ key }) => key);

  describe(`${name} keeps the blob store contract`, () => {
    it('gives back what was put, byte for byte', async () => {
      const blobs = await open();
      const data = Uint8Array.from({ length: 100_000 }, (_, i) => i % 256);
      await blobs.put('jobs/1/args', data);
      expect(await blobs.get('jobs/1/args')).toEqual(data);
      await blobs.put('jobs/1/empty', new Uint8Array());
      expect(await blobs.get('jobs/1/empty')).toEqual(new Uint8Array());
    });

    it('answers null for what is not there', async () => {
      const blobs = await filled('jobs/1/args');
      expect(await blobs.get('jobs/1/result')).toBeNull();
      expect(await blobs.get('jobs/1')).toBeNull();
      expect(await blobs.get('jobs/1/args/deeper')).toBeNull();
    });

    it('puts over what was there', async () => {
      const blobs = await open();
      await blobs.put('a', bytes('a long first text'));
      await blobs.put('a', bytes('second'));
      expect(await blobs.get('a')).toEqual(bytes('second'));
    });

    it('concurrent puts of one key leave one of them, whole', async () => {
      const blobs = await open();
      const texts = Array.from({ length: 20 }, (_, i) => String(i).repeat(10_000));
      await Promise.all(texts.map((text) => blobs.put('jobs/1/args', bytes(text))));
      expect(texts).toContain(new TextDecoder().decode((await blobs.get('jobs/1/args'))!));
    });

    it('deletes every blob whose key starts with the prefix and no other, and again without complaint', async () => {
      const blobs = await filled('jobs/1/args', 'jobs/1/result', 'jobs/12/args', 'jobs/2/args', 'other');
      const left = async () => [...(await keysOf(blobs, 'jobs/')), ...(await keysOf(blobs, 'o'))];
      await blobs.deletePrefix('jobs/1/r');
      expect(await left()).toEqual(['jobs/1/args', 'jobs/12/args', 'jobs/2/args', 'other']);
      await blobs.deletePrefix('jobs/1/');
      expect(await left()).toEqual(['jobs/12/args', 'jobs/2/args', 'other']);
      await blobs.deletePrefix('jobs/1');
      expect(await left()).toEqual(['jobs/2/args', 'other']);
      await blobs.deletePrefix('jobs/1');
      await blobs.deletePrefix('never/was/');
      await blobs.deletePrefix('o');
      expect(await left()).toEqual(['jobs/2/args']);
    });

    it('lists in the order of the keys, page by page, also where names begin alike', async () => {
      const keys = ['jobs/1-a/x', 'jobs/1.b/x', 'jobs/1/x', 'jobs/1/y', 'jobs/10/x', 'jobs/2/x', 'other/x'];
      const blobs = await filled(...keys.toReversed());
      expect(await keysOf(blobs, 'jobs/')).toEqual(keys.slice(0, 6));
      expect(await keysOf(blobs, 'jobs/1')).toEqual(keys.slice(0, 5));
      expect(await keysOf(blobs, 'never/')).toEqual([]);
      const paged: string[] = [];
      for (let after: string | undefined; ; after = paged.at(-1)) {
        const page = await keysOf(blobs, 'jobs/', { limit: 2, ...(after !== undefined && { after }) });
        if (page.length === 0) break;
        expect(page.length).toBeLessThanOrEqual(2);
        paged.push(...page);
      }
      expect(paged).toEqual(keys.slice(0, 6));
      expect(await keysOf(blobs, 'jobs/', { after: 'jobs/1/xx' })).toEqual(keys.slice(3, 6));
    });

    it('tells when a blob was put last', async () => {
      const before = Date.now();
      const blobs = await filled('jobs/1/args');
      const [info] = await blobs.list('jobs/', { limit: 1 });
      // Some keep whole seconds only.
      expect(info!.putAt).toBeGreaterThanOrEqual(before - 1_000);
      expect(info!.putAt).toBeLessThanOrEqual(Date.now() + 1_000);
    });

    it('an address gives the blob to whoever has it, for as long as was said', async ({ skip }) => {
      const blobs = await filled('jobs/1/args', 'jobs/2/args');
      if (!blobs.presign) return skip('the store makes no addresses');
      const url = await blobs.presign('jobs/1/args', 60_000);
      const response = await fetch(url);
      expect(await response.text()).toBe('jobs/1/args');
      expect(new URL(url).searchParams.get('X-Amz-Expires')).toBe('60');
    });
  });
}
