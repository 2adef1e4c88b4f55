import { PayloadError } from '../blobs/payload-error.ts';
import { WaybillError } from '../errors.ts';
import type { Store } from '../store/store.ts';

/** So many items in a row that fail alone tell of the store, and not of the items. */
const MOST_IN_A_ROW = 3;

/**
 * Whose fault a failure is, in one sweep. While the store is away, full or takes no writes, no item is to blame: the
 * sweep ends and is repeated. A blob store that is away is the fault of those items only that need it.
 */
export class StoreCheck {
  readonly #store: Store;
  #inARow = 0;
  #hasSucceeded = false;
  #doubtful: WaybillError | undefined;

  constructor(store: Store) {
    this.#store = store;
  }

  succeeded(): void {
    this.#inARow = 0;
    this.#hasSucceeded = true;
  }

  /** Throws the error where the store is to blame. `items`: how many were tried together. */
  async failed(error: unknown, items: number): Promise<void> {
    await this.#store.ping().catch(() => {
      throw error;
    });
    if (!(error instanceof WaybillError && error.retryable) || error instanceof PayloadError) return;
    if (items > 1) return;
    this.#doubtful ??= error;
    this.#inARow += 1;
    if (this.#inARow >= MOST_IN_A_ROW) throw error;
  }

  /** At the end, before any item is blamed: where no write succeeded, a failure that may pass is the store's. */
  end(): void {
    if (this.#doubtful && !this.#hasSucceeded) throw this.#doubtful;
  }
}
