/** A stretch from one moment to another, or from one place in the log to another. */
export interface Span {
  name: string;
  from: number;
  /** Not part of it. */
  to: number;
}

/** The first moment at which more than `limit` of them were there at once, and which. */
export function tooMany(spans: readonly Span[], limit: number): string[] | undefined {
  const open: Span[] = [];
  for (const span of spans.toSorted((one, other) => one.from - other.from)) {
    if (span.from >= span.to) continue;
    const still = open.filter(({ to }) => to > span.from);
    open.splice(0, open.length, ...still, span);
    if (open.length > limit) return open.map(({ name }) => name);
  }
  return undefined;
}
