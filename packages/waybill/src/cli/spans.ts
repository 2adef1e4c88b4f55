const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'm'],
  [1_000, 's'],
] as const;

/** How long, in at most two units: 350ms, 4.2s, 3m 12s, 2d 4h. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 10_000) return `${Math.floor(ms / 100) / 10}s`;
  const first = UNITS.findIndex(([length]) => ms >= length);
  const [length, unit] = UNITS[first]!;
  const head = `${Math.floor(ms / length)}${unit}`;
  const [next, nextUnit] = UNITS[first + 1] ?? [0, ''];
  const rest = next === 0 ? 0 : Math.floor((ms % length) / next);
  return rest === 0 ? head : `${head} ${rest}${nextUnit}`;
}

/** Where a moment lies, seen from now. */
export function away(at: number, now: number): string {
  return at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`;
}
