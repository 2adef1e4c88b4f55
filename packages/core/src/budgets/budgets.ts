import { WaybillError } from '../errors.ts';
import { pageOf } from '../read-query.ts';
import type { StoredRecord } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { BUDGET_KIND, budgetId, budgetNotFound, budgetRecord, checkBudget, parseBudgetId } from './budget.ts';
import { infoOf, newState, stateFromRecord, stateToRecord } from './budget-state.ts';
import type { BudgetInfo, Budgets } from './budgets-port.ts';

/** Runs write to the same record when they spend, so a change may have to be tried again. */
const MOST_TRIES = 100;

export function budgets({ records, clock }: Pick<Store, 'records' | 'clock'>): Budgets {
  const shown = ({ tenant, id, value }: StoredRecord): BudgetInfo | null => {
    const state = stateFromRecord(value);
    return state && infoOf(tenant, parseBudgetId(id), state, clock.now());
  };

  const mustFind = async (tenant: string, id: string): Promise<{ record: StoredRecord; info: BudgetInfo }> => {
    parseBudgetId(id);
    const [record] = await records.get([budgetRecord(tenant, id)]);
    const info = record ? shown(record) : null;
    if (!record || !info) throw budgetNotFound(id);
    return { record, info };
  };

  return {
    set: async (given, { tenant = '' } = {}) => {
      const { limit, ...subject } = checkBudget(given);
      const key = budgetRecord(tenant, budgetId(subject));
      let [record] = await records.get([key]);
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const known = record ? stateFromRecord(record.value) : null;
        const state = known ?? newState(limit);
        // Another limit is told of anew.
        const value = stateToRecord({ ...state, limit, told: limit === state.limit ? state.told : 'open' });
        const [answer] = await records.put([{ ...key, value, expected: record?.version ?? 0 }]);
        if (answer!.status === 'stored') return shown(answer!.record)!;
        record = answer!.record;
      }
      throw new WaybillError('unavailable', `Runs keep spending of the budget '${budgetId(subject)}'. Try again.`);
    },
    list: async ({ tenant = '', ...query } = {}) => {
      const { limit, cursor } = pageOf(query);
      const page = await records.list({ tenant, kind: BUDGET_KIND, limit, ...(cursor !== undefined && { cursor }) });
      const items = page.items.map(shown).filter((info) => info !== null);
      return page.cursor === undefined ? { items } : { items, cursor: page.cursor };
    },
    get: async (id, { tenant = '' } = {}) => (await mustFind(tenant, id)).info,
    remove: async (id, { tenant = '' } = {}) => {
      const { record, info } = await mustFind(tenant, id);
      const answer = await records.remove(record);
      if (answer.status === 'absent') throw budgetNotFound(id);
      return info;
    },
  };
}
