import { jobNotFound } from '../commit/row-change.ts';
import { invalidField } from '../errors.ts';
import type { Job } from '../job/job.ts';
import { parseToken } from '../job/lease.ts';
import { fenceAdmits } from '../job/progress.ts';
import { checkId } from '../read-query.ts';
import { checkQueueOf, refusal } from '../settle/refusal.ts';
import type { Store } from '../store/store.ts';
import { budgetId, budgetRecord, checkAmounts, checkBudgetKey } from './budget.ts';
import { BUDGET_PERIODS, type BudgetInfo, type SpendCall, type Spending } from './budgets-port.ts';
import type { Ledger } from './ledger.ts';

interface Parts {
  store: Pick<Store, 'get' | 'records'>;
  ledger: Ledger;
}

/** Adds what a run has spent to the budgets that it concerns. Without any, it costs two reads. */
export class Spender {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  async spend(call: SpendCall): Promise<Spending> {
    const { tenant = '', key, number } = call;
    const amounts = new Map(checkAmounts(call.amounts));
    if (key !== undefined) checkBudgetKey(key);
    if (number !== undefined && !(Number.isSafeInteger(number) && number >= 1))
      throw invalidField('number', 'must be an integer from 1 on.');
    const job = await this.#speaker(call);
    const found = await this.#budgetsFor(tenant, [...amounts.keys()], key);
    const budgets = await Promise.all(
      found.map(({ id, unit }) => {
        const by = { jobId: job.id, run: job.run, number: number ?? null };
        return this.#parts.ledger.add(tenant, id, { amount: amounts.get(unit)!, by });
      }),
    );
    return spendingOf(budgets.filter((budget) => budget !== null));
  }

  /** The job whose run speaks. What it has used is used, so a lease that ends meanwhile changes nothing. */
  async #speaker({ tenant = '', id, leaseToken, workerId, queue }: SpendCall): Promise<Job> {
    checkId(id);
    const token = leaseToken === undefined ? undefined : parseToken(leaseToken);
    const by = token ? { run: token.run, claimId: token.claimId } : workerId === undefined ? 'anyone' : { workerId };
    const [job] = await this.#parts.store.get([{ tenant, id }]);
    if (!job) throw jobNotFound(id);
    checkQueueOf(job, queue);
    if (!fenceAdmits(job, by)) throw refusal(job, token, workerId);
    return job;
  }

  /** The ids say of what a budget is, so those that may concern a call are known by name. */
  async #budgetsFor(
    tenant: string,
    units: readonly string[],
    key: string | undefined,
  ): Promise<{ id: string; unit: string }[]> {
    const keys = key === undefined ? [null] : [null, key];
    const asked = units.flatMap((unit) =>
      BUDGET_PERIODS.flatMap((period) => keys.map((one) => ({ unit, id: budgetId({ unit, period, key: one }) }))),
    );
    const records = await this.#parts.store.records.get(asked.map(({ id }) => budgetRecord(tenant, id)));
    return asked.filter((_, index) => records[index] !== null);
  }
}

const spendingOf = (budgets: BudgetInfo[]): Spending => ({
  budgets,
  exceeded: budgets.filter(({ isExceeded }) => isExceeded),
});
