/** What must be there before a store can be opened without making anything. */
export const GROUND: readonly string[] = ['file', 'store', 'server', 'schema', 'table'];

/** One line of `waybill doctor`. */
export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  hint?: string;
}
