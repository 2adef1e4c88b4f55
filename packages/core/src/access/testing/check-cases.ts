import { expect } from 'vitest';
import type { HealthChecks } from '../../waybill.ts';
import { about, type Case, FORBIDDEN } from './case.ts';

export const CHECK_CASES: { [M in keyof Required<HealthChecks>]: Case } = {
  run: about(
    'read',
    ({ checks }, _, at) => checks.run(at),
    () => ({ tenant: 'a', jobs: { total: 1 }, findings: [{ check: 'dead-letters' }] }),
    { stranger: () => ({ tenant: 'b', jobs: { total: 0 }, findings: [] }), narrowed: FORBIDDEN },
  ),
  job: about(
    'read',
    ({ checks }, { lease }, at) => checks.job(lease.job.id, at),
    ({ lease }) => ({ id: lease.job.id, health: 'healthy' }),
  ),
  /** For operators: it is about all tenants. */
  round: {
    ...{ scope: null, takesNone: true, right: FORBIDDEN, stranger: FORBIDDEN, narrowed: FORBIDDEN },
    call: async ({ checks }) => expect(await checks.round!()).toBeTruthy(),
  },
};
