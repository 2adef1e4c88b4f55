import { keyToWire } from '@waybill/client';
import { command } from '../command.ts';
import { changeKey, KEY_TENANT } from '../open-keys.ts';

export const keysRevoke = command({
  name: 'keys revoke',
  section: 'Care',
  summary: 'end an API key; no server takes it any more within 5 seconds',
  args: 'ID',
  options: { tenant: KEY_TENANT },
  notes: `ID is the id of the key, its first characters, or its secret. A secret is found in all tenants whose keys you may
manage, so that one that was found in a log can be ended at once:

  waybill keys revoke "$secret"`,
  run: async ({ args: [text = ''] }, context) => {
    const key = await changeKey(context, text, (keys, id, whose) => keys.revoke(id, { ...whose, by: 'cli' }));
    context.show({ key: keyToWire(key) }, () => `${key.id} (${key.name}) revoked\n`);
    return 0;
  },
});
