/**
 * What a client sends, until the signal: then the iteration ends, also while it waits for the next message. A race of
 * promises would leave a reaction on the waiting one for each message, so one listener ends the wait.
 */
export async function* whileOpen<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  let end = () => {};
  const stop = () => end();
  signal.addEventListener('abort', stop, { once: true });
  try {
    while (!signal.aborted) {
      const next = await new Promise<IteratorResult<T> | undefined>((resolve, reject) => {
        end = () => resolve(undefined);
        iterator.next().then(resolve, reject);
      });
      if (next === undefined || next.done) return;
      if (!signal.aborted) yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', stop);
    // Not awaited: a client that sends nothing more would never let it end.
    iterator.return?.().catch(() => {});
  }
}
