import path from 'node:path';
import type { Run } from '../result.ts';
import { drain, drainTelemetry } from '../workloads/drain.ts';
import { enqueueBulk, enqueueOne } from '../workloads/enqueue.ts';
import { chain, parked, parkedBeside, workflow } from '../workloads/growth.ts';
import { history } from '../workloads/history.ts';
import { httpEnqueue, httpFetchAck } from '../workloads/http.ts';
import { isolated } from '../workloads/isolated.ts';
import { journal } from '../workloads/journal.ts';
import { journalFollow } from '../workloads/journal-follow.ts';
import { latency } from '../workloads/latency.ts';
import { httpWaits, waits } from '../workloads/waits.ts';
import type { BenchStore } from './store.ts';

// Loaded when run: it takes more from our packages than a user does, so `--against` an older commit may lack something.
const rawInsert: Run = async (task) => (await import('../sqlite/raw-runs.ts')).rawInsert(task);
const rawDrain: Run = async (task) => (await import('../sqlite/raw-runs.ts')).rawDrain(task);

/** A file needs nothing around it, and every run has its own. */
export const sqlite: BenchStore = {
  workloads: {
    'enqueue-one': { systems: { waybill: enqueueOne('waybill'), raw: rawInsert }, yardstick: 'raw' },
    'enqueue-bulk': { systems: { waybill: enqueueBulk('waybill'), raw: rawInsert }, yardstick: 'raw' },
    drain: {
      systems: { waybill: drain('waybill'), 'waybill-lean': drain('waybill-lean'), raw: rawDrain },
      yardstick: 'raw',
    },
    latency: { systems: { waybill: latency(['waybill'], 'one') } },
    'drain-history': {
      systems: { waybill: drain('waybill', { beside: history }), 'without-history': drain('waybill') },
      yardstick: 'without-history',
    },
    'drain-telemetry': drainTelemetry,
    'http-enqueue': httpEnqueue,
    'http-fetch-ack': httpFetchAck,
    waits,
    'http-waits': httpWaits,
    'parked-beside': parkedBeside,
    parked,
    workflow,
    chain,
    journal,
    'journal-follow': journalFollow,
    isolated,
  },
  host: async () => ({ servers: {}, serverOf: () => undefined, missing: {}, close: async () => {} }),
  place: async (folder) => ({ store: `sqlite:${path.join(folder, 'bench.db')}`, remove: async () => {} }),
};
