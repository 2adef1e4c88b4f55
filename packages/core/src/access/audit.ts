import { WaybillError } from '../errors.ts';
import type { Audit, Waybill } from '../waybill.ts';
import type { Caller } from './caller.ts';

/** What was done is written down by whoever gives out ports, and by no caller: an entry must not be made up. */
export function scopedAudit({ audit }: Waybill, caller: Caller): { audit?: Audit } {
  if (audit === undefined) return {};
  return {
    audit: {
      record: async (entry, context) => {
        if (!caller.isOperator) throw new WaybillError('forbidden', 'Only the server itself writes the audit.');
        return audit.record(entry, { tenant: caller.enter('admin', context) });
      },
    },
  };
}
