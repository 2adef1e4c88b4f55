import type { Records } from '../../waybill.ts';
import { A, about, type Case, FORBIDDEN } from './case.ts';

export const RECORD_CASES: { [M in keyof Records]: Case } = {
  get: about('admin', ({ records }, _, at) => records!.get('note', 'n1', at), A, { narrowed: FORBIDDEN }),
  list: about(
    'admin',
    ({ records }, _, at) => records!.list({ ...at, kind: 'note', limit: 9 }),
    () => ({ items: [{ id: 'n1' }] }),
    { stranger: () => ({ items: [] }), narrowed: FORBIDDEN },
  ),
  put: about('admin', ({ records }, _, at) => records!.put({ kind: 'note', id: 'n2', value: {}, expected: 0 }, at), A, {
    stranger: () => ({ tenant: 'b' }),
    narrowed: FORBIDDEN,
  }),
  remove: about(
    'admin',
    async ({ records }, _, at) => (await records!.remove('note', 'n1', at)) ?? null,
    () => null,
    { narrowed: FORBIDDEN },
  ),
};
