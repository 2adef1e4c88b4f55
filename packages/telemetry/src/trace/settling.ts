import { type Context, context } from '@opentelemetry/api';

/** The run that is being settled in this very turn. */
let settling: Context | undefined;

/**
 * Calls `settle` for the run of this context. Handed over in a variable for as long as the call itself takes, because a
 * worker asks its port at once: an asynchronous context for each settle would cost as much as its span.
 */
export function settledIn<T>(run: Context, settle: () => Promise<T>): Promise<T> {
  const outer = settling;
  settling = run;
  try {
    return settle();
  } finally {
    settling = outer;
  }
}

/** The context that a settle belongs to; the active one where whoever settles has no middleware of ours, or tries again. */
export const settlingContext = (): Context => settling ?? context.active();
