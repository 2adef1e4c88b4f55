import { expect } from 'vitest';
import type { Keys } from '../../waybill.ts';
import { A, about, type Case, FORBIDDEN } from './case.ts';

export const KEY_CASES: { [M in Exclude<keyof Keys, 'sessions' | 'taskTokens'>]: Case } = {
  create: about(
    'admin',
    ({ keys }, _, at) => keys!.create({ name: 'ci', scopes: ['read'] }, at),
    () => ({ key: { tenant: 'a' }, secret: expect.stringMatching(/^wb_/) }),
    { stranger: () => ({ key: { tenant: 'b' } }), narrowed: FORBIDDEN },
  ),
  list: about(
    'admin',
    ({ keys }, _, at) => keys!.list(at),
    ({ key }) => [{ id: key }],
    { stranger: () => [], narrowed: FORBIDDEN },
  ),
  get: about('admin', ({ keys }, { key }, at) => keys!.get(key, at), A, { narrowed: FORBIDDEN }),
  rotate: about(
    'admin',
    ({ keys }, { key }, at) => keys!.rotate(key, at),
    () => ({ key: { tenant: 'a' } }),
    { narrowed: FORBIDDEN },
  ),
  revoke: about('admin', ({ keys }, { key }, at) => keys!.revoke(key, at), A, { narrowed: FORBIDDEN }),
  identify: {
    ...{ scope: null, takesNone: true, right: FORBIDDEN, stranger: FORBIDDEN, narrowed: FORBIDDEN },
    call: ({ keys }) => keys!.identify('wb_x'),
  },
};
