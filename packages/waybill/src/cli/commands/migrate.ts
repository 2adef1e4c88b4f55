import { WaybillError } from '@waybill/core';
import { parseAddress } from '../../connect/parse-address.ts';
import { shownAddress } from '../../connect/shown-address.ts';
import { command } from '../command.ts';
import { schemaVersion } from '../schema-version.ts';

export const migrate = command({
  name: 'migrate',
  section: 'Care',
  summary: 'bring the schema of a store up to date, or make a new store',
  takesTenant: false,
  takesKey: false,
  notes: 'Every server does the same when it opens the store; this is for doing it beforehand.',
  run: async (_, context) => {
    const address = parseAddress(context.store);
    if (address.kind === 'remote') {
      throw new WaybillError('invalid_request', 'A server migrates its own store.', {
        hint: 'Name the store itself with --store.',
      });
    }
    const before = await schemaVersion(address);
    await context.connect({ create: true });
    const version = await schemaVersion(address);
    const document = { store: shownAddress(context.store), schema_version: version, was: before };
    context.show(document, () => {
      if (version === null) return 'A store in memory has the newest schema and ends with this command.\n';
      if (before === version) return `${document.store} has schema ${version}, nothing to do\n`;
      return `${document.store} has schema ${version}${before === null ? ', newly made' : `, it was ${before}`}\n`;
    });
    return 0;
  },
});
