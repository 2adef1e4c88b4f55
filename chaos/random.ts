/** A whole number from 0 up to below `bound`. */
export type Random = (bound: number) => number;

/** The same numbers for the same seed, in every process. */
export function randomFrom(seed: string): Random {
  let state = hashOf(seed);
  return (bound) => {
    // Mulberry32: short, and good enough to choose faults by.
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * bound);
  };
}

/** FNV-1a. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  return hash;
}

/** A whole number from `least` to `most`, both included. */
export const between = (random: Random, least: number, most: number): number => least + random(most - least + 1);

export const oneOf = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!;

/** In another order; the list itself stays as it is. */
export function shuffled<T>(random: Random, items: readonly T[]): T[] {
  const left = [...items];
  return items.map(() => left.splice(random(left.length), 1)[0]!);
}
