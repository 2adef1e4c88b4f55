import { describe, expect, it } from 'vitest';
import { testApply } from './store/apply.ts';
import { benchFor, type StoreFactory } from './store/bench.ts';
import { testBudgets } from './store/budgets.ts';
import { testClaim } from './store/claim.ts';
import { testClaimById } from './store/claim-by-id.ts';
import { testCount } from './store/count.ts';
import { testCrons } from './store/crons.ts';
import { testDue } from './store/due.ts';
import { testEvents } from './store/events.ts';
import { testEventsUntil } from './store/events-until.ts';
import { testExtend } from './store/extend.ts';
import { testGet } from './store/get.ts';
import { testInsert } from './store/insert.ts';
import { testInsertAndClaim } from './store/insert-and-claim.ts';
import { testJoins } from './store/joins.ts';
import { testJournal } from './store/journal.ts';
import { testKeep } from './store/keep.ts';
import { testKeys } from './store/keys.ts';
import { testLimits } from './store/limits.ts';
import { testList } from './store/list.ts';
import { testLocks } from './store/locks.ts';
import { testNodeRules } from './store/node-rules.ts';
import { testPrune } from './store/prune.ts';
import { testPruneUnused } from './store/prune-unused.ts';
import { testQueueLimits } from './store/queue-limits.ts';
import { testQueues } from './store/queues.ts';
import { testRates } from './store/rates.ts';
import { testRecords } from './store/records.ts';
import { testReports } from './store/reports.ts';
import { testSubjectEvents } from './store/subject-events.ts';
import { testTenantLimits } from './store/tenant-limits.ts';
import { testTenants } from './store/tenants.ts';
import { testUnique } from './store/unique.ts';
import { testUnreadable } from './store/unreadable.ts';
import { testWake } from './store/wake.ts';
import { testWorkers } from './store/workers.ts';
import { testWorkflowRecords } from './store/workflow-records.ts';
import { testWorkflows } from './store/workflows.ts';

const PARTS = [
  testInsert,
  testGet,
  testList,
  testCount,
  testClaim,
  testInsertAndClaim,
  testClaimById,
  testApply,
  testExtend,
  testDue,
  testPrune,
  testPruneUnused,
  testEvents,
  testEventsUntil,
  testReports,
  testQueues,
  testKeep,
  testQueueLimits,
  testUnique,
  testLimits,
  testRates,
  testWorkflows,
  testJoins,
  testNodeRules,
  testWorkflowRecords,
  testCrons,
  testWorkers,
  testRecords,
  testBudgets,
  testKeys,
  testLocks,
  testSubjectEvents,
  testTenants,
  testTenantLimits,
  testUnreadable,
  testWake,
];

/** The contract of a Store, split by its verbs. The factory makes a fresh, empty store for every test. */
export function testStore(name: string, factory: StoreFactory): void {
  const open = benchFor(factory);
  describe(`${name} keeps the store contract`, () => {
    it('answers a ping and tells the clock it goes by', async () => {
      const { store, clock } = await open();
      await store.ping();
      expect(store.clock.now()).toBe(clock.now());
    });

    for (const part of PARTS) part(open);
  });
}

/** The part of the contract about journals, for stores that have them. */
export function testJournalStore(name: string, factory: StoreFactory): void {
  describe(`${name} keeps the contract of journals`, () => testJournal(benchFor(factory)));
}
