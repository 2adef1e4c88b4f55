import type { Link } from '../link.ts';
import type { PostgresOptions } from '../options.ts';

/** One line of `waybill doctor`. */
export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  hint?: string;
}

/** From where a thing is worth a word. */
export const LIMITS = {
  /** Transactions that are open for longer keep every row alive that has died since. */
  transactionMs: 5 * 60_000,
  /** Dead rows that vacuum has not taken away. */
  deadRows: 500_000,
  /** Clocks of healthy machines differ by less. */
  skewMs: 5_000,
  /** A notification that takes longer will not come. */
  notifyMs: 3_000,
};

export interface Patient {
  link: Link;
  options: PostgresOptions;
  limits: typeof LIMITS;
}
