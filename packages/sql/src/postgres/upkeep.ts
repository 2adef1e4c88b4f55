import type { Logger } from '@waybill/core';
import type { Base } from './base.ts';
import { addDays } from './partitions.ts';

const FOLD_EVERY_MS = 5_000;
const ADD_DAYS_EVERY_MS = 3_600_000;

/** What the store does for itself while it is used: any number of processes may, and none must. */
export class Upkeep {
  readonly #base: Base;
  readonly #logger: Logger;
  #foldedAt = Number.NEGATIVE_INFINITY;
  #addedAt = Number.NEGATIVE_INFINITY;

  constructor(base: Base, logger: Logger) {
    this.#base = base;
    this.#logger = logger;
  }

  /** Beside the sweep: what fails here is tried again in its turn, and keeps no job from being looked at. */
  async tryRun(): Promise<void> {
    await this.run().catch((error: unknown) => {
      this.#logger.warn({ err: error }, 'Upkeep of the PostgreSQL store failed and will be repeated.');
    });
  }

  async run(): Promise<void> {
    const { link, sql } = this.#base;
    const now = link.clock.now();
    if (Math.abs(now - this.#addedAt) >= ADD_DAYS_EVERY_MS) {
      this.#addedAt = now;
      await addDays(link, now, this.#logger);
    }
    if (Math.abs(now - this.#foldedAt) >= FOLD_EVERY_MS) {
      this.#foldedAt = now;
      await link.query(sql['totals-fold']);
    }
  }
}
