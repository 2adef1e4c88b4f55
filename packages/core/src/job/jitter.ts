/**
 * A number in [0, 1) that belongs to one run of one job. Jitter only has to differ between jobs; made from the id it
 * keeps `transition` pure, and two servers that settle the same run compute the same retry time. FNV-1a, then a
 * final mix, since FNV's high bits change little with the last byte.
 */
export function chanceOf(id: string, run: number): number {
  let hash = 0x811c9dc5;
  for (const char of `${id}/${run}`) hash = Math.imul(hash ^ char.charCodeAt(0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32;
}
