/** What must be there before a store can be opened without making anything. */
export const GROUND: readonly string[] = ['file', 'store', 'server', 'schema', 'table'];

/** One line of `waybill doctor`. */
export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  message: string;
  hint?: string;
}

/** Whether this says that there is nothing to ask. A store that only answers slowly can be asked. */
export const isMissing = ({ name, status }: Check): boolean =>
  GROUND.includes(name) && (status === 'fail' || (status === 'warn' && name !== 'store'));
