import { type ClaimRequest, isFinished, type JobState, transition } from '@waybill/core';
import { encodeEvent } from '../event-codec.ts';
import { jobRow, jobRows } from './job-rows.ts';
import { countStarts } from './limits.ts';
import type { ClaimByIdReply, Input } from './protocol.ts';
import { countQueueStarts, gateOf } from './queue-gate.ts';
import { AT, headOf, type Row } from './rows.ts';
import type { Session } from './session.ts';
import { countTenantRuns, tenantRoom } from './tenants.ts';

export function claim(session: Session, requests: Input<'claim'>): Row[][] {
  return requests.map((request) => claimNext(session, request));
}

function claimNext(session: Session, request: ClaimRequest): Row[] {
  const { tenant, claimId, now } = request;
  const held = jobRows(session.sql['claim-held'], tenant, claimId);
  if (held.length > 0) return held;
  const claimed: Row[] = [];
  const limit = Math.min(request.limit, tenantRoom(session, tenant));
  for (const queue of request.queues) {
    if (claimed.length >= limit) break;
    const gate = gateOf(session, tenant, queue, now);
    const room = Math.min(limit - claimed.length, gate.room);
    if (gate.isPaused || room <= 0) continue;
    const before = claimed.length;
    for (const row of jobRows(session.sql['claim-ready'], tenant, queue, now, room)) {
      if (begin(session, row, request)) claimed.push(row);
    }
    countQueueStarts(session, gate, claimed.length - before, now);
  }
  countLimitStarts(session, claimed, now);
  countTenantRuns(session, tenant, claimed.length);
  return claimed;
}

export function claimById(session: Session, request: Input<'claimById'>): ClaimByIdReply[] {
  const { tenant, now } = request;
  return request.ids.map((id) => {
    const row = jobRow(session.sql['job-by-id'], tenant, id);
    if (row === undefined) return 'unknown';
    const state = row[AT.state] as JobState;
    if (isFinished(state)) return 'finished';
    if (state === 'active') return row[AT.claimId] === request.claimId ? row : 'held';
    if (state !== 'available') return 'not_due';
    if (request.queues && !request.queues.includes(row[AT.queue])) return 'elsewhere';
    if (row[AT.rank] === null) return 'parked';
    const gate = gateOf(session, tenant, row[AT.queue], now);
    if (gate.isPaused) return 'paused';
    if (gate.room <= 0 || tenantRoom(session, tenant) <= 0) return 'parked';
    if (!begin(session, row, request)) return 'not_due';
    countQueueStarts(session, gate, 1, now);
    countLimitStarts(session, [row], now);
    countTenantRuns(session, tenant, 1);
    return row;
  });
}

/** Once per key, however many of its jobs were claimed. */
function countLimitStarts(session: Session, rows: readonly Row[], now: number): void {
  let starts: Map<string, number> | undefined;
  for (const row of rows) {
    const key = row[AT.limitKey];
    if (key === null) continue;
    starts ??= new Map();
    starts.set(key, (starts.get(key) ?? 0) + 1);
  }
  for (const [key, count] of starts ?? []) countStarts(session, rows[0]![AT.tenant], key, count, now);
}

/**
 * Begins a run by the rules of `transition` and brings the row up to date. Measured against the same in one UPDATE
 * with RETURNING: a tie, so the rules stay in one place.
 */
function begin(session: Session, row: Row, command: Omit<ClaimRequest, 'queues' | 'limit'>): boolean {
  const { claimId, workerId, leaseMs, now } = command;
  const after = transition(headOf(row), { do: 'claim', claimId, workerId, leaseMs }, now);
  if (after === null) return false;
  const { job } = after;
  session.sql['claim-job'].run(
    job.nextAt,
    job.version,
    job.run,
    job.attempt,
    job.claimId,
    job.workerId,
    job.leaseMs,
    job.leaseUntil,
    job.timeoutAt,
    job.startedAt,
    job.tenant,
    job.id,
  );
  session.log(after.events.map(encodeEvent), now);
  row[AT.state] = job.state;
  row[AT.rank] = job.rank;
  row[AT.nextAt] = job.nextAt;
  row[AT.version] = job.version;
  row[AT.run] = job.run;
  row[AT.attempt] = job.attempt;
  row[AT.claimId] = job.claimId;
  row[AT.workerId] = job.workerId;
  row[AT.leaseMs] = job.leaseMs;
  row[AT.leaseUntil] = job.leaseUntil;
  row[AT.outcome] = job.outcome;
  row[AT.timeoutAt] = job.timeoutAt;
  row[AT.startedAt] = job.startedAt;
  return true;
}
