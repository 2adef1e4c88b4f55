import { randomUUID } from 'node:crypto';
import { type Lease, type Logger, WaybillError } from '@waybill/core';
import type { ClaimTurns, Turn } from './claim-turns.ts';
import { Deadlines } from './deadlines.ts';
import type { ResolvedWorkerOptions } from './options.ts';
import { type Bell, backoffMs, mayRepeat, within } from './patience.ts';

const ANSWER_WITHIN_MS = 30_000;

interface ClaimParts
  extends Pick<ResolvedWorkerOptions, 'id' | 'jobs' | 'clock' | 'logger' | 'leaseMs' | 'waitMs' | 'tenant'> {
  turns: ClaimTurns;
  /** How many jobs may be claimed now. */
  room(): number;
  /** Aborted while no jobs may be taken; a new one when that is over. */
  pause(): AbortSignal;
  stopping: AbortSignal;
  /** Rings when `room`, `pause` or `stopping` may have changed. */
  changed: Bell;
  take(leases: readonly Lease[]): void;
}

/** Asks for as many jobs as there is room for, over and over, patient with a server that is away. */
export async function claimLoop(parts: ClaimParts): Promise<void> {
  const over = new AbortController();
  const deadlines = new Deadlines(parts.waitMs + ANSWER_WITHIN_MS, parts.clock, over.signal);
  try {
    await claimOverAndOver(parts, deadlines);
  } finally {
    over.abort();
  }
}

async function claimOverAndOver(parts: ClaimParts, deadlines: Deadlines): Promise<void> {
  const { clock, logger, stopping, changed, turns, take } = parts;
  let claimId = randomUUID();
  let failures = 0;
  let pause = parts.pause();
  let signal = AbortSignal.any([stopping, pause]);
  while (!stopping.aborted) {
    const room = parts.room();
    const turn = room <= 0 || parts.pause().aborted ? null : turns.next(room);
    if (turn === null) {
      await changed.wait();
      continue;
    }
    if (pause !== parts.pause()) {
      pause = parts.pause();
      signal = AbortSignal.any([stopping, pause]);
    }
    try {
      const leases = await deadlines.within(claim(parts, claimId, turn, signal));
      turns.brought(turn, leases);
      take(leases);
      claimId = randomUUID();
      if (failures > 0) logger.info({ failures }, 'The server answers again.');
      failures = 0;
    } catch (error) {
      if (signal.aborted) {
        take(await recover(parts, claimId, turn));
        claimId = randomUUID();
        continue;
      }
      // The same claim id, as below: jobs that the broken call may have claimed come with the next one.
      if (turn.reopened?.signal.aborted) continue;
      failures += 1;
      const fields = { err: error, failures };
      if (!mayRepeat(error)) tellRefusal(logger, fields);
      else if (failures === 1) logger.warn(fields, 'Jobs could not be claimed; trying again.');
      // The same claim id: if only the answer was lost, the repetition brings the same jobs.
      await clock.sleep(backoffMs(failures), stopping);
    }
  }
}

const KEY_HINT =
  'The key of this worker may be revoked or expired: the log of the server says which. Start it again with one that counts.';

/** Ever more seldom: it will not change before people do something. */
function tellRefusal(logger: Logger, fields: { err: unknown; failures: number }): void {
  if (!Number.isInteger(Math.log2(fields.failures))) return;
  const isKey = fields.err instanceof WaybillError && fields.err.code === 'unauthenticated';
  logger.error({ ...fields, ...(isKey && { hint: KEY_HINT }) }, 'The server refuses to give this worker jobs.');
}

function claim(parts: ClaimParts, claimId: string, turn: Turn, signal: AbortSignal): Promise<Lease[]> {
  if (turn.reopened !== null) return claimUntilReopened(parts, claimId, turn, turn.reopened, signal);
  const { jobs, id: workerId, leaseMs, tenant } = parts;
  const { queues, count, waitMs } = turn;
  return jobs.claim({ queues, count, workerId, leaseMs, claimId, waitMs, tenant, signal });
}

/** Joined by hand: `AbortSignal.any` would leave something in the worker's own signal with every claim. */
async function claimUntilReopened(
  parts: ClaimParts,
  claimId: string,
  turn: Turn,
  reopened: AbortController,
  signal: AbortSignal,
): Promise<Lease[]> {
  const either = new AbortController();
  const end = () => either.abort();
  signal.addEventListener('abort', end, { once: true });
  reopened.signal.addEventListener('abort', end, { once: true });
  try {
    return await claim(parts, claimId, { ...turn, reopened: null }, either.signal);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** A call that we broke off may have claimed jobs whose answer we will never see; asked again, it tells which. */
async function recover(parts: ClaimParts, claimId: string, { queues, count }: Turn): Promise<Lease[]> {
  const { jobs, id: workerId, leaseMs, tenant, clock, logger } = parts;
  try {
    return await within(ANSWER_WITHIN_MS, clock, jobs.claim({ queues, count, workerId, leaseMs, claimId, tenant }));
  } catch (error) {
    logger.warn({ err: error }, 'Jobs of a claim that was broken off may wait until their leases end.');
    return [];
  }
}
