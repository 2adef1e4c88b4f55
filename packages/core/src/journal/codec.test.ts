import { inflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compressed, opened, pack, unpack } from './codec.ts';
import type { JournalEntry } from './entry.ts';

const anyContent: fc.Arbitrary<Partial<JournalEntry>> = fc.oneof(
  fc.constant({}),
  fc.record({ output: fc.uint8Array({ maxLength: 3_000 }) }),
  fc.record({ output: fc.uint8Array(), stream: fc.constantFrom('stdout' as const, 'stderr' as const) }),
  fc.record({ data: fc.jsonValue({ noUnicodeString: false }) as fc.Arbitrary<never> }),
);
const anyEntries = fc
  .array(
    fc.tuple(
      fc.integer({ min: 1, max: 2 ** 40 }),
      fc.integer({ min: -1_000_000, max: 2 ** 50 }),
      fc.string({ minLength: 1 }),
      anyContent,
    ),
    { minLength: 1, maxLength: 30 },
  )
  .map((parts) => {
    let sequence = -1;
    return parts.map(([step, at, type, content]): JournalEntry => {
      sequence += step;
      return { run: 3, sequence, at, type, ...content };
    });
  });

describe('a batch of entries', () => {
  test('comes back as it was, bytes that are no text included', async () => {
    await fc.assert(
      fc.asyncProperty(anyEntries, async (entries) => {
        const stored = await compressed(pack(entries));
        expect(unpack(await opened(stored), 3)).toEqual(JSON.parse(JSON.stringify(entries), revive(entries)));
      }),
    );
  });

  test('is smaller where its text repeats itself', async () => {
    const line = Buffer.from('GET /health 200 in 3 ms\n');
    const entries = Array.from({ length: 50 }, (_, n) => ({ sequence: n, at: n, type: 'output', output: line }));
    expect((await compressed(pack(entries))).length).toBeLessThan(line.length * 10);
  });

  // node:zlib has zstd from 22.15 on: an older server could not read what a newer one wrote.
  test('trap: is raw or deflated, which every supported Node reads', async () => {
    const small = await compressed(pack([{ sequence: 0, at: 0, type: 'a' }]));
    const large = await compressed(pack([{ sequence: 0, at: 0, type: 'output', output: new Uint8Array(5_000) }]));
    expect([small[0], large[0]]).toEqual([0, 1]);
    expect(unpack(Buffer.concat([Buffer.of(0), inflateRawSync(large.subarray(1))]), 1)).toHaveLength(1);
  });

  test('that is damaged fails, and takes no memory for what it promises', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
        const read = async () => unpack(await opened(bytes), 1);
        await read().catch((error: unknown) => expect(error).toBeInstanceOf(Error));
      }),
    );
    const bomb = await compressed(pack([{ sequence: 0, at: 0, type: 'output', output: new Uint8Array(80_000_000) }]));
    expect(bomb.length).toBeLessThan(1_000_000);
    await expect(opened(bomb)).rejects.toThrow();
  });
});

/** JSON knows no bytes; `-0` and the like are what JSON makes of them. */
const revive = (entries: readonly JournalEntry[]) =>
  function (this: unknown, key: string, value: unknown): unknown {
    if (key !== 'output') return value;
    return entries.find(({ sequence }) => sequence === (this as JournalEntry).sequence)?.output;
  };
