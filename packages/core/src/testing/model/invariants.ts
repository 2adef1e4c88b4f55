import { expect } from 'vitest';
import { type JobEvent, type JobEventType, TERMINAL_EVENT_TYPES } from '../../events/job-event.ts';
import { isFinished, type Job } from '../../job/job.ts';
import { nextAtFor } from '../../job/next-at.ts';
import { rankFor } from '../../job/rank.ts';
import type { UniqueKey } from './steps.ts';

/** What ends a run, also where the job goes on living. */
export const RUN_ENDS: ReadonlySet<JobEventType> = new Set([
  'job.completed',
  'job.failed',
  'job.snoozed',
  'job.requeued',
  'job.lease_expired',
  'job.cancelled',
]);

export interface History {
  seen: readonly JobEvent[];
  /** From a workflow node to those that must complete before it. */
  parents: ReadonlyMap<string, readonly string[]>;
}

const DEFAULT_KEYS: ReadonlySet<string> = new Set<UniqueKey>(['u1', 'u2']);

/** What must be true of every history, whoever wrote it. */
export function checkHistory({ seen: events, parents }: History, rows: readonly Job[]): void {
  const byJob = Map.groupBy(events, ({ tenant, jobId }) => `${tenant}/${jobId}`);
  const rowOf = new Map(rows.map((row) => [`${row.tenant}/${row.id}`, row]));
  for (const [key, history] of byJob) checkOne(history, rowOf.get(key));
  for (const row of rows) checkRow(row);
  for (const [child, ids] of parents) checkNode(events, child, ids);
}

/** A node is dispatched once each time that it waits, and only after all before it have completed. */
function checkNode(events: readonly JobEvent[], child: string, parents: readonly string[]): void {
  const completed = new Set<string>();
  let last: JobEventType | undefined;
  for (const { type, tenant, jobId } of events) {
    const key = `${tenant}/${jobId}`;
    if (type === 'job.completed' || type === 'job.skipped') completed.add(key);
    if (key !== child) continue;
    if (last === undefined) expect(type, 'guarantee 8: a node waits first').toBe('job.pending');
    if (last === 'job.pending' && type !== 'job.cancelled') {
      const unmet = parents.filter((parent) => !completed.has(parent));
      expect(unmet, 'guarantee 8: dispatched after all its parents completed').toEqual([]);
    }
    last = type;
  }
}

/** Keys that are unique among living jobs, whatever was replaced, replayed or reinstated. */
export function checkKeys(rows: readonly Job[]): void {
  const living = rows.filter(({ uniqueKey, state }) => DEFAULT_KEYS.has(uniqueKey ?? '') && !isFinished(state));
  const keys = living.map(({ tenant, uniqueKey }) => `${tenant}/${uniqueKey}`);
  expect(keys, 'guarantee 7: one living job for a unique key').toEqual([...new Set(keys)]);
}

function checkOne(history: readonly JobEvent[], row: Job | undefined): void {
  let [running, ended, run] = [false, false, 0];
  let last: JobEventType | undefined;
  for (const [index, { type, sequence, run: ofRun }] of history.entries()) {
    expect(sequence, 'guarantee 4: no gap').toBe(index + 1);
    if (type === 'job.started') {
      expect(running || ended, 'guarantee 2: one live lease').toBe(false);
      run += 1;
      running = true;
    }
    expect(ofRun).toBe(run);
    if (RUN_ENDS.has(type)) running = false;
    if (TERMINAL_EVENT_TYPES.has(type)) {
      expect(ended, 'guarantee 4: one terminal event per end').toBe(false);
      ended = true;
    }
    if (type === 'job.replayed' || (type === 'job.pending' && index > 0)) {
      expect(ended, 'only what has ended comes back to life').toBe(true);
      ended = false;
    }
    expect([last, type], 'guarantee 8: dispatched once').not.toEqual(['job.enqueued', 'job.enqueued']);
    last = type;
  }
  // Pruned since.
  if (!row) return;
  expect(row.version, 'guarantee 4: the version counts the events').toBe(history.length);
  expect(row.run).toBe(run);
  expect(isFinished(row.state)).toBe(ended);
  expect(row.state === 'active').toBe(running);
}

/** What is derived was derived from the row as it is. */
function checkRow(row: Job): void {
  expect(row.rank).toBe(rankFor(row));
  expect(row.nextAt).toBe(nextAtFor(row));
  if (row.holdsSlot) expect(['available', 'active']).toContain(row.state);
}
