import type { RetentionOptions } from '../options.ts';
import type { PruneFailure } from '../store/prune.ts';
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
  let failed: readonly PruneFailure[] = [];
  for (let more = true; more && !signal.aborted; ) {
    const answer = await store.prune({
      finishedBefore: now - retention.finishedMs,
      deadBefore: now - retention.deadMs,
      eventsBefore: now - retention.eventsMs,
      journalBefore: now - retention.journalMs,
      unusedBefore: now - retention.unusedMs,
      limit: SLICE,
    });
    failed = answer.failed ?? [];
    // What failed is left over again and again; the next round tries it anew.
    more = answer.more && (failed.length === 0 || answer.jobs + answer.events + (answer.journal ?? 0) > 0);
  }
  if (failed.length > 0) throw new Error(failed.map(({ part, reason }) => `Old ${part}: ${reason}`).join(' '));
}
