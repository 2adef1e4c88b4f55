import type { Writer } from '../commit/writer.ts';
import { invalidField, WaybillError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Limits } from '../waybill.ts';
import { checkedRule, isLimitKey } from './limit-options.ts';

/** Limits by key, looked at and changed at run time. */
export function limits(store: Store, writer: Writer): Limits {
  const get: Limits['get'] = async (key, { tenant = '' } = {}) => {
    const limit = await store.limits.get(tenant, key);
    if (limit === null)
      throw new WaybillError('not_found', `No job ever named the limit '${key}'.`, { details: { key } });
    return limit;
  };
  return {
    get,
    set: async (key, rule, { tenant = '' } = {}) => {
      if (!isLimitKey(key))
        throw invalidField('key', 'must be letters, digits and . _ : -, beginning with a letter or digit.');
      await writer.setLimit(tenant, key, checkedRule(rule, 'rule'));
      return get(key, { tenant });
    },
  };
}
