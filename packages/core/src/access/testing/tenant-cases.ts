import type { Tenants } from '../../waybill.ts';
import { A, about, type Case, FORBIDDEN } from './case.ts';

/** Of tenants, also of one with every scope. */
const ofOperators = (call: Case['call']): Case => ({
  ...{ scope: null, takesNone: true, call, right: FORBIDDEN, stranger: FORBIDDEN, narrowed: FORBIDDEN },
});

export const TENANT_CASES: { [M in keyof Tenants]: Case } = {
  list: ofOperators(({ tenants }) => tenants.list()),
  get: about('read', ({ tenants }) => tenants.get('a'), A, { narrowed: FORBIDDEN, takesNone: true }),
  stats: about(
    'read',
    ({ tenants }) => tenants.stats('a'),
    () => ({ tenant: 'a', jobs: { active: 1 } }),
    {
      ...{ narrowed: FORBIDDEN, takesNone: true },
    },
  ),
  setLimits: { ...ofOperators(({ tenants }) => tenants.setLimits('a', { concurrency: null })), isAudited: true },
};
