import { describe, expect, it } from 'vitest';
import { budgets } from '../../budgets/budgets.ts';
import { Ledger } from '../../budgets/ledger.ts';
import type { OpenBench } from './bench.ts';

const SERVERS = 5;
const RUNS = 50;
const CALLS = 4;

export function testBudgets(open: OpenBench): void {
  describe('budgets', () => {
    // fault: 50 runs on five servers spend of one budget at once, and each call is sent twice
    it('of many runs on many servers lose nothing, count nothing twice, and tell each level once', async () => {
      const bench = await open();
      const { store } = bench;
      const port = budgets(store);
      const tenant = 'acme';
      const limit = RUNS * CALLS * 0.1;
      const { id } = await port.set({ unit: 'usd', period: 'month', limit }, { tenant });
      const ledgers = Array.from({ length: SERVERS }, () => new Ledger({ store, onTold: () => {} }));
      const runs = Array.from({ length: RUNS }, async (_, place) => {
        const spend = (number: number, server: number) => {
          const by = { jobId: `job-${place}`, run: 1, number };
          return ledgers[server % SERVERS]!.add(tenant, id, { amount: 0.1, by });
        };
        for (let number = 1; number <= CALLS; number += 1)
          await Promise.all([spend(number, place), spend(number, place + 1)]);
      });
      await Promise.all(runs);
      expect(await port.get(id, { tenant })).toMatchObject({ spent: limit, left: 0, isExceeded: true });
      const filter = { tenant, types: ['budget.warned', 'budget.exceeded'] as const };
      const { events } = await store.events.read({ filter, limit: 100 });
      expect(events.map(({ type, sequence }) => [type, sequence])).toEqual([
        ['budget.warned', 1],
        ['budget.exceeded', 2],
      ]);
    });
  });
}
