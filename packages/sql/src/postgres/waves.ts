/**
 * Puts what one call was given into groups that one statement can do: no two members of a wave share a key, and of
 * those that do the earlier one is in an earlier wave. Nearly always there is one.
 */
export function wavesOf<T>(items: readonly T[], keysOf: (item: T) => Iterable<string>): number[][] {
  if (items.length === 1) return [[0]];
  const waves: number[][] = [];
  const waveOf = new Map<string, number>();
  for (const [index, item] of items.entries()) {
    const keys = [...keysOf(item)];
    const wave = Math.max(0, ...keys.map((key) => (waveOf.get(key) ?? -1) + 1));
    for (const key of keys) waveOf.set(key, wave);
    if (wave === waves.length) waves.push([]);
    waves[wave]!.push(index);
  }
  return waves;
}
