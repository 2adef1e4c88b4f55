import { keyToWire } from '@waybill/client';
import { command } from '../command.ts';
import { changeKey, KEY_TENANT } from '../open-keys.ts';
import { readSpan } from '../read-value.ts';
import { factsOf, showSecret } from '../shown-key.ts';
import { span } from '../spans.ts';

export const keysRotate = command({
  name: 'keys rotate',
  section: 'Care',
  summary: 'give an API key a new secret, which is the last line, and is shown once',
  args: 'ID',
  options: {
    'keep-old': { value: 'SPAN', about: 'how long the secret before counts as well', default: 'not at all' },
    tenant: KEY_TENANT,
  },
  notes: `With --keep-old there is time to give the new secret to every program that has the old one:

  waybill keys rotate k7mq --keep-old 1h`,
  run: async ({ args: [text = ''], values: { 'keep-old': keep } }, context) => {
    const keepOldMs = keep === undefined ? 0 : readSpan('--keep-old', keep);
    const { key, secret } = await changeKey(context, text, (keys, id, whose) =>
      keys.rotate(id, { ...whose, by: 'cli', keepOldMs }),
    );
    const old = keepOldMs === 0 ? 'counts no more' : `counts for ${span(keepOldMs)} more`;
    showSecret(context, { key: keyToWire(key) }, secret, () => `${factsOf(key, context)}\nThe secret before ${old}.\n`);
    return 0;
  },
});
