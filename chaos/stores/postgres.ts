import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '@waybill/sql/postgres/testing';
import type { ChaosStore } from './store.ts';

/** A server of its own, from the binaries that npm brings. */
export const postgres: ChaosStore = {
  hasNetwork: true,
  faults: ['restart-database', 'restart-database', 'crash-database', 'crash-database'],
  pace: { leaseMs: 2_500, lateLeaseMs: 600, sweepEveryMs: 300, faultEveryMs: [300, 2_000], jobsPerSecond: 40 },
  isOrderExact: false,
  // Engines measure the offset to the server's clock over links that are stalled now and then.
  clockErrorMs: 50,
  open: async () => {
    // It removes its folder by itself, also when this process is killed.
    const server = await startPostgres();
    const urlVia = (port: number): string => {
      const url = new URL(server.url);
      url.port = String(port);
      return url.href;
    };
    return {
      url: server.url,
      urlVia,
      target: { host: '127.0.0.1', port: server.port },
      env: {},
      leftOut: {},
      inject: async (fault, lastsMs) => {
        if (fault === 'crash-database') return server.crash();
        if (fault !== 'restart-database') throw new Error(`PostgreSQL takes no ${fault}.`);
        await server.stop();
        await sleep(lastsMs);
        await server.start();
      },
      close: () => server.remove(),
    };
  },
};
