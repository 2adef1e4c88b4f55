/** Enough to make the cost of a piece small, and little enough for one reader among many. */
const MOST_BYTES = 64 * 1_024;

/**
 * Small pieces that come at once as one: each has its price on the way to the socket. Nothing waits for company: what has
 * come goes as soon as the next one takes longer than a turn.
 */
export async function* gathered(items: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  let next = items.next();
  try {
    for (;;) {
      const first = await next;
      if (first.done) return;
      const pieces = [first.value];
      let bytes = first.value.length;
      next = items.next();
      while (bytes < MOST_BYTES) {
        // What has come is sent before the failure, which the next round meets.
        const more = await Promise.race([next.catch(() => undefined), nextTurn()]);
        if (more === undefined || more.done) break;
        pieces.push(more.value);
        bytes += more.value.length;
        next = items.next();
      }
      yield pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
    }
  } finally {
    // It ends with the signal that was given to it; what it throws then is of no interest to a reader that has left.
    next.catch(() => {});
    void items.return(undefined).catch(() => {});
  }
}

const nextTurn = (): Promise<undefined> =>
  new Promise((resolve) => {
    setImmediate(resolve, undefined);
  });
