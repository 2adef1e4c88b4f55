import { WaybillError } from '@waybill/core';
import { command } from '../command.ts';
import { openKeys } from '../open-keys.ts';

const atTime = (time: number): string => new Date(time).toISOString();

export const keysRotateTokens = command({
  name: 'keys rotate-tokens',
  section: 'Care',
  summary: 'sign lease tokens with a new key; those of the key before stay valid',
  notes: `Servers that ask for keys sign the lease tokens of claims. Their secret is kept in the store, and all servers
of a store share it. After a rotation all servers accept the new secret within a minute, and sign with it two minutes after
the rotation. The secret before is accepted until the next rotation, so workers keep their leases. The next one is refused
for seven minutes. Rotate twice when a secret may have got out: the second rotation ends it. Leases that are longer than
five minutes need a longer time between the two. Servers that were given a secret by --token-secret or
WAYBILL_TOKEN_SECRET do not use the one of the store.`,
  run: async (_, context) => {
    const { keys } = await openKeys(context);
    if (keys.taskTokens === undefined)
      throw new WaybillError('unsupported', 'A server does not rotate its token key for callers.', {
        hint: 'Name the store itself by --store.',
      });
    const { signsFrom, nextFrom } = await keys.taskTokens.rotate();
    context.io.stdout.write(`A new key for lease tokens is stored. No server needs a restart.
${atTime(signsFrom)}  servers sign with the new key; until then with the old
${atTime(nextFrom)}  the next rotation is possible, which ends the old key
`);
    return 0;
  },
});
