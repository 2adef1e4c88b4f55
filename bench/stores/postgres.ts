import { pinned, quiet, watched } from '../postgres/circumstances.ts';
import { databaseFor, dropLeftovers } from '../postgres/databases.ts';
import { copiedHistory } from '../postgres/history.ts';
import { durabilityOf, startPostgres } from '../postgres/server.ts';
import { emptyRedis, startRedis } from '../redis/server.ts';
import { besideTableOf } from '../report.ts';
import type { Workload } from '../result.ts';
import { drain, drainTelemetry } from '../workloads/drain.ts';
import { enqueueBulk, enqueueOne } from '../workloads/enqueue.ts';
import { type Connections, latency } from '../workloads/latency.ts';
import { waits } from '../workloads/waits.ts';
import type { BenchStore } from './store.ts';

const around = quiet;
/** One commit per job: a tenth of the jobs takes as long as all of them do where calls share a commit. */
const UNBATCHED = { jobs: 10_000 };
/** Its workers take one job every two seconds, so ten of them take twenty. */
const POLLED = { jobs: 10 };

/** pg-boss at its defaults takes one job in two seconds and can never keep up, so it has no latency to tell. */
const latencies = (connections: Connections): Workload => ({
  systems: {
    waybill: latency(['waybill'], connections, { around }),
    'graphile-worker': latency(['graphile-worker'], connections, { around }),
    'graphile-worker-tuned': latency(['graphile-worker-tuned'], connections, { around }),
    'pg-boss-tuned': latency(['pg-boss-notified'], connections, { around }),
    bullmq: latency(['bullmq'], connections),
  },
  yardstick: 'graphile-worker-tuned',
});

/** With the closest peer, and with its defaults, which wait for nothing either. */
const inTurn = (connections: Connections): Workload => ({
  systems: { waybill: latency(['waybill', 'graphile-worker-tuned', 'graphile-worker'], connections, { around }) },
  report: besideTableOf,
});

export const postgres: BenchStore = {
  workloads: {
    'enqueue-one': {
      systems: {
        waybill: enqueueOne('waybill'),
        'graphile-worker': enqueueOne('graphile-worker', UNBATCHED),
        'graphile-worker-tuned': enqueueOne('graphile-worker-tuned', UNBATCHED),
        'pg-boss': enqueueOne('pg-boss', UNBATCHED),
        'pg-boss-tuned': enqueueOne('pg-boss-tuned', UNBATCHED),
        bullmq: enqueueOne('bullmq'),
      },
      yardstick: 'pg-boss-tuned',
    },
    // The call is the same however the workers are tuned, so each library runs once.
    'enqueue-bulk': {
      systems: {
        waybill: enqueueBulk('waybill'),
        'graphile-worker-tuned': enqueueBulk('graphile-worker-tuned'),
        'pg-boss-tuned': enqueueBulk('pg-boss-tuned'),
        bullmq: enqueueBulk('bullmq'),
        raw: enqueueBulk('raw'),
      },
      yardstick: 'graphile-worker-tuned',
    },
    drain: {
      systems: {
        waybill: drain('waybill', { around: watched }),
        'waybill-keep-none': drain('waybill-keep-none', { around: watched }),
        'graphile-worker': drain('graphile-worker', { around: watched, ...UNBATCHED }),
        'graphile-worker-tuned': drain('graphile-worker-tuned', { around: watched }),
        'pg-boss': drain('pg-boss', { around: watched, ...POLLED }),
        'pg-boss-tuned': drain('pg-boss-tuned', { around: watched }),
        bullmq: drain('bullmq'),
        raw: drain('raw', { around: watched }),
      },
      yardstick: 'graphile-worker-tuned',
    },
    waits,
    latency: latencies('one'),
    'latency-apart': latencies('two'),
    'latency-beside': inTurn('one'),
    'latency-apart-beside': inTurn('two'),
    'drain-telemetry': drainTelemetry,
    'drain-history': {
      systems: {
        waybill: drain('waybill', { around, beside: copiedHistory }),
        'graphile-worker-tuned': drain('graphile-worker-tuned', { around, beside: copiedHistory }),
        'pg-boss-tuned': drain('pg-boss-tuned', { around, beside: copiedHistory }),
        'without-history': drain('waybill', { around }),
      },
      yardstick: 'without-history',
    },
    'drain-pinned': {
      systems: {
        waybill: drain('waybill', { around: pinned }),
        'waybill-keep-none': drain('waybill-keep-none', { around: pinned }),
        'graphile-worker-tuned': drain('graphile-worker-tuned', { around: pinned }),
        unpinned: drain('waybill', { around }),
      },
      yardstick: 'unpinned',
    },
  },
  host: async (folder, { postgresUrl }) => {
    const server = postgresUrl === undefined ? await startPostgres(folder) : { url: postgresUrl, stop: async () => {} };
    const redis = await startRedis(folder);
    const durability = await durabilityOf(server.url);
    return {
      servers: { postgres: server.url, ...(redis && { redis: redis.url }) },
      serverOf: (system) => (system === 'bullmq' ? redis?.durability : durability),
      missing: redis ? {} : { bullmq: 'there is no redis-server in the PATH' },
      close: async () => {
        try {
          await dropLeftovers(server.url);
        } finally {
          await server.stop();
          await redis?.stop();
        }
      },
    };
  },
  place: async (_folder, { postgres: url, redis }) => {
    const made = [await databaseFor(url!)];
    if (redis !== undefined) await emptyRedis(redis);
    return {
      store: made[0]!.store,
      another: async () => {
        const next = await databaseFor(url!, made.length);
        made.push(next);
        return next.store;
      },
      remove: async () => {
        for (const { remove } of made) await remove();
      },
      ...(redis !== undefined && { redis }),
    };
  },
};
