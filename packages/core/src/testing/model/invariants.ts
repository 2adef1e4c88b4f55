import { expect } from 'vitest';
import { type JobEvent, type JobEventType, TERMINAL_EVENT_TYPES } from '../../events/job-event.ts';
import { isFinished, type Job } from '../../job/job.ts';
import { nextAtFor } from '../../job/next-at.ts';
import { rankFor } from '../../job/rank.ts';

/** What ends a run, also where the job goes on living. */
const RUN_ENDS: ReadonlySet<JobEventType> = new Set([
  'job.completed',
  'job.failed',
  'job.snoozed',
  'job.requeued',
  'job.lease_expired',
  'job.cancelled',
]);

/** What must be true of every history, whoever wrote it. */
export function checkHistory(events: readonly JobEvent[], rows: readonly Job[]): void {
  const byJob = Map.groupBy(events, ({ tenant, jobId }) => `${tenant}/${jobId}`);
  const rowOf = new Map(rows.map((row) => [`${row.tenant}/${row.id}`, row]));
  for (const [key, history] of byJob) checkOne(history, rowOf.get(key));
  for (const row of rows) checkRow(row);
}

function checkOne(history: readonly JobEvent[], row: Job | undefined): void {
  let [running, ended, run] = [false, false, 0];
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
    if (type === 'job.replayed') {
      expect(ended, 'only what has ended is replayed').toBe(true);
      ended = false;
    }
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
