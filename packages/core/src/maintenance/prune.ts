import type { RetentionOptions } from '../options.ts';
import type { Store } from '../store/store.ts';

/** Rows per transaction: small enough that enqueues and claims never wait long behind it. */
const SLICE = 1_000;

/** Removes everything that is older than the retention says, slice by slice. Idempotent. */
export async function pruneAll(
  store: Store,
  retention: Required<RetentionOptions>,
  signal: AbortSignal,
): Promise<void> {
  const now = store.clock.now();
  for (let more = true; more && !signal.aborted; ) {
    const answer = await store.prune({
      finishedBefore: now - retention.finishedMs,
      deadBefore: now - retention.deadMs,
      eventsBefore: now - retention.eventsMs,
      limit: SLICE,
    });
    more = answer.more;
  }
}
