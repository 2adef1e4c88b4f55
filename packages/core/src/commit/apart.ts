export interface ApartOptions<T> {
  /** Whether the failure is no item's own, so that smaller batches would fail too. May throw to end it all. */
  isShared(error: unknown, items: readonly T[]): boolean | Promise<boolean>;
  onFailed(item: T, error: unknown): unknown;
}

/** Runs a batch; when it fails, its halves, until the item that causes the failure fails alone. */
export async function apart<T>(
  items: readonly T[],
  run: (items: readonly T[]) => Promise<void>,
  options: ApartOptions<T>,
): Promise<void> {
  if (items.length === 0) return;
  try {
    await run(items);
  } catch (error) {
    const isShared = await options.isShared(error, items);
    if (isShared || items.length === 1) {
      for (const item of items) options.onFailed(item, error);
      return;
    }
    const middle = Math.ceil(items.length / 2);
    await apart(items.slice(0, middle), run, options);
    await apart(items.slice(middle), run, options);
  }
}
