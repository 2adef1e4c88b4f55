import { isFinished, type JobState } from '@waybill/core';
import { forgetJournal, hasJournals } from './journal.ts';
import { admit, count, isUnclaimed } from './limits.ts';
import type { ApplyReply, ChangeMessage, EndMessage, Input } from './protocol.ts';
import type { Cell, MutableCells, Row } from './rows.ts';
import type { Session } from './session.ts';
import { countTenantRuns } from './tenants.ts';

export function apply(session: Session, { changes, at, now }: Input<'apply'>): ApplyReply[] {
  return changes.map((change) =>
    Array.isArray(change) ? end(session, change, at) : applyOne(session, change, at, now),
  );
}

function end(session: Session, message: EndMessage, at: number): ApplyReply {
  const [tenant, id, queue, run, claimId, event, state, ...rest] = message;
  const ended = session.sql['finish-by-lease'].run(state, ...rest, tenant, id, run, claimId);
  if (ended.changes === 0) return isRepeated(session, tenant, id, [run, claimId], rest[2]!) ? 'repeated' : 'lost';
  session.log([event], at);
  countInQueue(session, tenant, queue, state, RUNNING);
  if (state === 'completed' && session.forgets(tenant, queue)) forget(session, tenant, id);
  return 'applied';
}

/** What the row is before a change, as far as counts depend on it. */
type Before = [state: string, holdsSlot: number];

const RUNNING: Before = ['active', 0];
/** Nothing is claimed without the slot that it needs, and it is kept while the run lasts. */
const RUNNING_WITH_SLOT: Before = ['active', 1];

export function applyOne(session: Session, change: ChangeMessage, at: number, now: number): ApplyReply {
  const { tenant, id, cells, limitKey } = change;
  const { ownedKey } = change;
  if (ownedKey !== undefined && !owns(session, tenant, ownedKey, id)) return refusal(session, change);
  const before = rowBefore(session, change);
  if (write(session, change) === 0) return refusal(session, change);
  session.log(change.events, at);
  if (rankOf(cells) !== null) {
    session.noteQueue(tenant, queueOf(cells), now);
    session.wake(queueOf(cells));
  }
  if (before === undefined) return 'applied';
  countInQueue(session, tenant, queueOf(cells), stateOf(cells), before);
  if (stateOf(cells) === 'completed' && session.forgets(tenant, queueOf(cells))) forget(session, tenant, id);
  const admitted = limitKey === null ? [] : moveSlot(session, change, limitKey, before, now);
  return admitted.length === 0 ? 'applied' : { admitted };
}

/** Answers how many rows were written: one, or none when the row is not what the change expects. */
function write({ sql }: Session, { tenant, id, by, fence, cells }: ChangeMessage): number | bigint {
  if (by === 'version') return sql['apply-by-version'].run(...cells, tenant, id, ...fence).changes;
  if (hasEnded(stateOf(cells))) return sql['finish-by-lease'].run(...endOf(cells), tenant, id, ...fence).changes;
  return sql['apply-by-lease'].run(...cells, tenant, id, ...fence).changes;
}

const owns = ({ sql }: Session, tenant: string, key: string, id: string): boolean =>
  sql['unique-owner'].get<[string]>(tenant, key)?.[0] === id;

/** Undefined where no count can depend on it, so that nobody needs to look. */
function rowBefore(session: Session, { tenant, id, by, cells, limitKey }: ChangeMessage): Before | undefined {
  if (by === 'lease') return limitKey === null ? RUNNING : RUNNING_WITH_SLOT;
  const isCounted = session.hasLimitedQueues() || session.hasLimitedTenants();
  const matters = limitKey !== null || hasEnded(stateOf(cells)) || isCounted;
  return matters ? session.sql['row-before'].get<Before>(tenant, id) : undefined;
}

function refusal(session: Session, { tenant, id, by, fence, cells }: ChangeMessage): ApplyReply {
  return by === 'lease' && isRepeated(session, tenant, id, fence, outcomeOf(cells)) ? 'repeated' : 'lost';
}

/** The same run was settled with the same outcome before: the caller did not hear our answer. */
function isRepeated({ sql }: Session, tenant: string, id: string, fence: readonly Cell[], wanted: Cell): boolean {
  const found = sql['run-of'].get<[string, number, string | null, string | null]>(tenant, id);
  if (!found) return false;
  const [state, run, claimId, outcome] = found;
  return state !== 'active' && run === fence[0] && claimId === fence[1] && outcome === wanted;
}

function forget(session: Session, tenant: string, id: string): void {
  const { sql } = session;
  const removed = sql['forget-job'].get<[string | null]>(tenant, id);
  if (removed === undefined) return;
  sql['progress-forget'].run(tenant, id);
  if (hasJournals(session)) forgetJournal(session, tenant, id);
  if (removed[0] !== null) sql['unique-forget'].run(tenant, removed[0], id);
}

const queueOf = (cells: MutableCells): string => cells[1];
const stateOf = (cells: MutableCells): string => cells[4];
const rankOf = (cells: MutableCells): string | null => cells[5];
const outcomeOf = (cells: MutableCells): string | null => cells[15];
const holdsSlot = (cells: MutableCells): number => cells[26];

/** What an end changes, in the order of finish-by-lease. */
const endOf = (cells: MutableCells): Cell[] => {
  const [, , , , state, , nextAt, version] = cells;
  return [state, nextAt, version, outcomeOf(cells), cells[22], cells[25], cells[27], cells[28], cells[29]];
};

const hasEnded = (state: string): boolean => isFinished(state as JobState);

function countInQueue(session: Session, tenant: string, queue: string, after: string, [before]: Before): void {
  if (hasEnded(after) && !hasEnded(before)) session.noteEnd(tenant, queue, after);
  const shift = Number(after === 'active') - Number(before === 'active');
  if (shift === 0) return;
  countTenantRuns(session, tenant, shift);
  if (!session.hasLimitedQueues()) return;
  const counted = session.sql['queue-shift'].run(tenant, queue, shift);
  // Somebody else may start now.
  if (counted.changes !== 0 && shift < 0) session.wake(queue);
}

function moveSlot(session: Session, change: ChangeMessage, key: string, before: Before, now: number): Row[] {
  const { tenant, slot, cells } = change;
  const [wasIn, held] = before;
  const holds = holdsSlot(cells);
  const holders = holds - held;
  const unclaimed = isUnclaimed(stateOf(cells), holds) - isUnclaimed(wasIn, held);
  if (slot !== null) return admit(session, tenant, key, now, { holders, unclaimed }, change.limit ?? null);
  // One that was parked and is no more may have been the last to wait for the rate.
  if (holders !== 0 || unclaimed !== 0 || wasIn === 'available') {
    count(session, tenant, key, now, { holders, unclaimed });
  }
  return [];
}
