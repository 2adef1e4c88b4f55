import type { Logger, Principal, TellDone, Waybill } from '@waybill/core';

/** What the audit says of a request besides what was done. */
export interface Circumstances {
  /** Whose things a call is about that names no tenant. */
  tenant: string;
  /** What people call the caller. */
  name?: string | undefined;
  requestId: string;
  /** Where it came from, where that is known. */
  address?: string | undefined;
  /** What the request is for, where it reads something first; undefined: it says so itself. */
  meant?(): Meant | undefined;
}

export interface Meant {
  action: string;
  target?: string;
}

/** Writes down what callers do that takes the scope `admin`. */
export class Auditor {
  readonly #waybill: Waybill;
  readonly #logger: Logger;
  #lost = 0;

  constructor(waybill: Waybill, logger: Logger) {
    this.#waybill = waybill;
    this.#logger = logger;
  }

  /** Entries that could not be written since this server started. */
  get lost(): number {
    return this.#lost;
  }

  /** Undefined for a caller without a name: there is nothing to write down. */
  tellFor(
    { id: principal }: Pick<Principal, 'id'>,
    { tenant: home, name, requestId, address, meant }: Circumstances,
  ): TellDone | undefined {
    const { audit } = this.#waybill;
    if (principal === '' || audit === undefined) return undefined;
    return async ({ tenant = home, isRead, ...call }) => {
      // Who may not even read what a change begins with has asked for the change.
      const done = isRead ? { ...call, ...meant?.() } : call;
      const entry = {
        ...{ principal, ...done, requestId },
        ...(name !== undefined && { name }),
        ...(address !== undefined && { address }),
      };
      try {
        // What is about all tenants is the operators', whose own tenant has no name.
        await audit.record(entry, { tenant: tenant === '*' ? '' : tenant });
      } catch (error) {
        this.#lost += 1;
        // What was done is in the log of the server then.
        const { action, outcome } = done;
        const facts = { principal, action, outcome, request_id: requestId, lost: this.#lost, err: error };
        this.#logger.error(facts, 'Could not write an audit entry. The call itself is not affected.');
      }
    };
  }
}
