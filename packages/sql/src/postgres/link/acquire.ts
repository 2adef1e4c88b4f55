import { WaybillError } from '@waybill/core';
import type { Pool, PoolClient } from './pg-types.ts';

/** What `pg` says where a pool has a limit of its own for waiting. */
const POOL_TIMED_OUT = 'timeout exceeded when trying to connect';
/** What `pg` says where a server does not answer a new connection; see failures.ts. */
const SERVER_TIMED_OUT = 'timeout expired';

/** A connection is idle that no earlier call waits for, so `connect` hands it out in the next tick. */
const hasIdle = (pool: Pool): boolean => pool.idleCount > pool.waitingCount;

const isFull = (pool: Pool): boolean => pool.totalCount >= pool.options.max;

/** Whether `connect`, called in this very turn, gets a connection without waiting for one that is in use. */
export const hasFree = (pool: Pool): boolean => hasIdle(pool) || (pool.waitingCount === 0 && !isFull(pool));

/**
 * A connection of a pool that the application uses too. `pg` waits for ever by default, and where the application's own
 * transactions hold all connections while they wait for Waybill, none ever becomes free.
 */
export function acquire(pool: Pool, timeoutMs: number): Promise<PoolClient> {
  if (hasIdle(pool)) return pool.connect();
  const waitsForOthers = isFull(pool);
  return new Promise((resolve, reject) => {
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      reject(waitsForOthers ? poolInUse(pool, timeoutMs) : new Error(SERVER_TIMED_OUT));
    }, timeoutMs);
    pool.connect().then(
      (client) => {
        clearTimeout(timer);
        // Nobody waits for it any more: the next call in the pool's queue gets it.
        if (isLate) client.release();
        else resolve(client);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(isTimeout(error) ? poolInUse(pool, pool.options.connectionTimeoutMillis ?? timeoutMs) : error);
      },
    );
  });
}

const isTimeout = (error: unknown): boolean => error instanceof Error && error.message === POOL_TIMED_OUT;

/** Not repeated, unlike what a server does that is away: the application must change something. */
function poolInUse({ options, totalCount }: Pool, timeoutMs: number): WaybillError {
  const message = `All ${options.max} connections of the pool are in use, and none became free within ${timeoutMs} ms.`;
  return new WaybillError('unavailable', message, {
    hint: 'Enlarge the pool, or give Waybill its own: pass `url` or `config` instead of `pool`.',
    details: { pool_size: options.max, connections: totalCount },
  });
}
