import { WaybillError } from '../errors.ts';
import type { HealthChecks, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';
import type { Judge } from './judge.ts';

const WHY = 'a look is at every queue and type';

/** Whoever may read all of a tenant may look at how it does. What is about the server, and incidents of all, are an operator's. */
export function scopedChecks({ checks }: Waybill, caller: Caller, judge: Judge): HealthChecks {
  return {
    run: async (context) => {
      const tenant = caller.enter('read', context);
      caller.needAll(WHY);
      return checks.run({ tenant, server: caller.isForAll && (context?.server ?? true) });
    },
    job: async (id, context) => {
      const tenant = caller.enter('read', context);
      await judge.mustSee(id, tenant);
      return checks.job(id, { tenant });
    },
    ...(checks.round && {
      round: async () => {
        if (caller.isOperator) return checks.round!();
        throw new WaybillError('forbidden', 'Only operators may look at all tenants at once.', {
          hint: 'Use a key for all tenants with the scope admin.',
        });
      },
    }),
  };
}
