import { jobNotFound } from '../commit/row-change.ts';
import type { Destination } from '../enqueue/envelope.ts';
import { WaybillError } from '../errors.ts';
import type { Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

/** Whether a job belongs to a principal that names queues or types: it is read first. For others this does nothing. */
export class Judge {
  readonly #waybill: Waybill;
  readonly #caller: Caller;

  constructor(waybill: Waybill, caller: Caller) {
    this.#waybill = waybill;
    this.#caller = caller;
  }

  /** Refused as if there were no such job. */
  async mustSee(id: string, tenant: string): Promise<void> {
    if (this.#caller.isNarrowed && !(await this.sees(id, tenant))) throw jobNotFound(id);
  }

  async sees(id: string, tenant: string): Promise<boolean> {
    const found = await this.#destinationOf(id, tenant);
    return found !== null && this.#caller.sees(found);
  }

  async #destinationOf(id: string, tenant: string): Promise<Destination | null> {
    try {
      // Its payloads are of no interest.
      return await this.#waybill.jobs.get(id, { tenant, overBytes: 0 });
    } catch (error) {
      const { code, details } = WaybillError.from(error);
      if (code === 'not_found') return null;
      // A job whose payload cannot be read is cancelled all the same, and is hidden from others.
      const { queue, type } = details ?? {};
      if (typeof queue !== 'string' || typeof type !== 'string') throw error;
      return { queue, type };
    }
  }
}
