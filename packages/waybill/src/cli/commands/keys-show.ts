import { keyToWire } from '@waybill/client';
import { command } from '../command.ts';
import { changeKey, KEY_TENANT } from '../open-keys.ts';
import { allFactsOf } from '../shown-key.ts';

export const keysShow = command({
  name: 'keys show',
  section: 'Care',
  summary: 'show what an API key allows, and when it was last used',
  args: 'ID',
  options: { tenant: KEY_TENANT },
  notes: 'ID is the id of the key, its first characters, or its secret.',
  run: async ({ args: [text = ''] }, context) => {
    const key = await changeKey(context, text, (keys, id, whose) => keys.get(id, whose));
    context.show({ key: keyToWire(key) }, () => allFactsOf(key, context));
    return 0;
  },
});
