import { type Clock, systemClock } from '../../clock.ts';
import { WaybillError } from '../../errors.ts';
import type { ClaimRequest } from '../claim.ts';
import type { InsertGroup } from '../insert.ts';
import { lockStore } from '../locks.ts';
import { recordStore } from '../record-table.ts';
import type { Store, StoreCapabilities } from '../store.ts';
import { apply, extend } from './apply.ts';
import { claim, claimById } from './claim.ts';
import { enableCron, fireCron, getCron, listCrons, putCron, removeCron } from './crons.ts';
import { endOfLog, readEvents, tell } from './event-log.ts';
import { insert } from './insert.ts';
import { appendJournal, readJournal } from './journal.ts';
import { releaseLock, takeLock } from './locks.ts';
import { prune } from './prune.ts';
import { count, due, get, list } from './query.ts';
import { listQueues, opensAt, queueStats, setKeep, setPaused, setQueueLimit } from './queues.ts';
import { getRecords, listRecords, putRecords, removeRecord } from './records.ts';
import { addReports, getProgress } from './reports.ts';
import { getLimit, setLimit } from './slots.ts';
import { MemoryState } from './state.ts';
import { listTenants, setTenantLimit } from './tenants.ts';
import { beat, direct, listWorkers } from './workers.ts';
import { getWorkflow, hasUnfinished, listWorkflows, meet, move, parentsOf, waiting } from './workflows.ts';

const CAPABILITIES: StoreCapabilities = {
  name: 'memory',
  maxBatch: 10_000,
  parallelFlushes: 1,
  ordering: 'strict',
  search: true,
  eventLagMs: 0,
  pruneLagMs: 0,
  wakesAcrossProcesses: false,
  maxJournalBytes: 8 * 1_024 * 1_024,
};

/** The reference model that property tests compare the real stores with: no index, no cache, nothing to get wrong. */
export function memoryStore({ clock = systemClock }: { clock?: Clock } = {}): Store {
  const state = new MemoryState(clock);
  let closed = false;
  const assertOpen = () => {
    if (closed) throw new WaybillError('unavailable', 'The store is closed.');
  };

  /** A verb runs in one go, which makes it atomic; copies on both sides keep callers out of the state. */
  const verb =
    <In extends unknown[], Out>(run: (state: MemoryState, ...args: In) => Out) =>
    async (...args: In): Promise<Out> => {
      assertOpen();
      const answer = structuredClone(run(state, ...structuredClone(args)));
      state.tellWoken();
      return answer;
    };

  return {
    capabilities: CAPABILITIES,
    clock,
    insert: verb(insert),
    get: verb(get),
    list: verb(list),
    count: verb(count),
    claim: verb(claim),
    insertAndClaim: verb((state, group: InsertGroup, request: ClaimRequest) => ({
      answer: insert(state, [group])[0]!,
      claimed: claim(state, [request])[0]!,
    })),
    claimById: verb(claimById),
    opensAt: verb(opensAt),
    apply: verb(apply),
    extend: verb(extend),
    due: verb(due),
    prune: verb(prune),
    events: { read: verb(readEvents), end: verb(endOfLog), tell: verb(tell) },
    reports: { add: verb(addReports), get: verb(getProgress) },
    journal: {
      append: verb(appendJournal),
      read: verb(readJournal),
      onGrown: (listener) => {
        state.grownListeners.add(listener);
        return () => void state.grownListeners.delete(listener);
      },
    },
    queues: {
      list: verb(listQueues),
      stats: verb(queueStats),
      setPaused: verb(setPaused),
      setLimit: verb(setQueueLimit),
      setKeep: verb(setKeep),
      setTenantLimit: verb(setTenantLimit),
      tenants: verb(listTenants),
    },
    limits: { set: verb(setLimit), get: verb(getLimit) },
    workflows: {
      get: verb(getWorkflow),
      list: verb(listWorkflows),
      meet: verb(meet),
      waiting: verb(waiting),
      parents: verb(parentsOf),
      hasUnfinished: verb(hasUnfinished),
      move: verb(move),
    },
    workers: { beat: verb(beat), direct: verb(direct), list: verb(listWorkers) },
    crons: {
      put: verb(putCron),
      enable: verb(enableCron),
      get: verb(getCron),
      list: verb(listCrons),
      remove: verb(removeCron),
      fire: verb(fireCron),
    },
    records: recordStore(
      { get: verb(getRecords), put: verb(putRecords), list: verb(listRecords), remove: verb(removeRecord) },
      clock,
    ),
    locks: lockStore({ take: verb(takeLock), release: verb(releaseLock) }, clock),
    onWake: (listener) => {
      state.listeners.add(listener);
      return () => void state.listeners.delete(listener);
    },
    ping: async () => assertOpen(),
    close: async () => {
      closed = true;
    },
  };
}
