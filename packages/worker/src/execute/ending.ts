import type { Outcome } from '@waybill/core';

/** Thrown to leave the handler from any depth. Not an Error: nobody should take it for one, or pay for a stack. */
export class Ending {
  readonly outcome: Outcome;
  constructor(outcome: Outcome) {
    this.outcome = outcome;
  }
}
