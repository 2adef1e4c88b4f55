import type { Budgets } from '../../waybill.ts';
import { A, about, type Case, FORBIDDEN } from './case.ts';

const BUDGET = { unit: 'pages', period: 'day', key: 'k', limit: 20 } as const;
const ID = 'pages:day:k';

/** Of a key: those of the tenant as a whole are an operator's, see budgets.test.ts. */
export const BUDGET_CASES: { [M in keyof Budgets]: Case } = {
  set: about('admin', ({ budgets }, _, at) => budgets.set(BUDGET, at), A, {
    ...{ stranger: () => ({ tenant: 'b' }), narrowed: FORBIDDEN },
  }),
  list: about(
    'read',
    ({ budgets }, _, at) => budgets.list(at),
    () => ({ items: [{ id: ID, tenant: 'a' }] }),
    { stranger: () => ({ items: [] }), narrowed: FORBIDDEN },
  ),
  get: about('read', ({ budgets }, _, at) => budgets.get(ID, at), A, { narrowed: FORBIDDEN }),
  remove: about('admin', ({ budgets }, _, at) => budgets.remove(ID, at), A, { narrowed: FORBIDDEN }),
};
