import { budgetToWire } from '@waybill/client';
import { BUDGET_PERIODS, type Fields, invalidField, type Waybill } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App, Ctx } from '../http/env.ts';
import { portOf } from '../http/port.ts';
import { Query } from '../http/query.ts';
import { pagination } from '../ojs/pagination.ts';
import type { Surface } from '../surface.ts';

const PATH = '/waybill/v1/budgets';
const DEFAULT_LIMIT = 100;

/**
 * What the jobs of a tenant, and of its keys, may use together. `operator`: the port for everybody, on a server that asks
 * nobody for a key; there a caller may set the budgets of the tenant that its header names.
 */
export function budgetRoutes(app: App, { maxBodyBytes }: Surface, operator: Waybill | undefined): void {
  const changing = (c: Ctx) =>
    operator
      ? { budgets: operator.budgets, at: { tenant: c.get('tenant') ?? '' } }
      : { budgets: portOf(c).budgets, at: {} };

  app.get(PATH, async (c) => {
    const page = new Query(c, ['limit', 'cursor']).page(DEFAULT_LIMIT);
    const { items, cursor } = await portOf(c).budgets.list(page);
    return answer(c, { budgets: items.map(budgetToWire), pagination: pagination(page.limit, cursor) });
  });

  app.put(PATH, async (c) => {
    const budget = budgetIn(await readBody(c, maxBodyBytes));
    const { budgets, at } = changing(c);
    return answer(c, { budget: budgetToWire(await budgets.set(budget, at)) });
  });

  app.get(`${PATH}/:id`, async (c) => answer(c, { budget: budgetToWire(await portOf(c).budgets.get(idIn(c))) }));

  app.delete(`${PATH}/:id`, async (c) => {
    const { budgets, at } = changing(c);
    return answer(c, { budget: budgetToWire(await budgets.remove(idIn(c), at)) });
  });
}

/** What no id can be does not exist, see the engine. */
const idIn = (c: Ctx): string => c.req.param('id') ?? '';

/** How large a limit may be, and what a unit may be called, is the engine's to say. */
function budgetIn(body: Fields): Parameters<Waybill['budgets']['set']>[0] {
  body.refuseUnknown(['unit', 'period', 'limit', 'key']);
  const [unit, key] = [body.requiredString('unit'), body.string('key')];
  const period = body.oneOf('period', BUDGET_PERIODS);
  const limit = body.number('limit', { min: 0, max: 1e15 });
  if (period === undefined) throw invalidField('period', `must be one of ${BUDGET_PERIODS.join(', ')}.`);
  if (limit === undefined) throw invalidField('limit', 'is required.');
  return { unit, period, limit, ...(key !== undefined && { key }) };
}
