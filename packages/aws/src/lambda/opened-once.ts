/**
 * Opened by the first invocation and kept as long as the container of the function lives. One that could not be opened is
 * opened anew by the next invocation.
 */
export function openedOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined;
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  };
}
