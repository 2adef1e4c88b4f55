import { leaseMsOf, type Pace } from '../actors/timing.ts';
import { type Check, Tally } from './finding.ts';
import type { History, Run } from './history.ts';

/** A handler may go on after these: its lease was taken from it, and nothing that it says counts. */
const MAY_GO_ON = new Set(['job.lease_expired', 'job.cancelled', 'job.requeued']);

/** Guarantee 2: one live lease per job, by the log and by what the handlers themselves have noted. */
export const leases: Check = ({ histories, clockErrorMs, pace }) => {
  const tally = new Tally('runs');
  for (const history of histories.values()) {
    tally.count(history.runs.length);
    checkLog(tally, history, pace);
    for (const [index, run] of history.runs.entries()) {
      checkNotes(tally, history, run, clockErrorMs);
      checkNext(tally, history, run, history.runs[index + 1], clockErrorMs);
    }
  }
  return tally.finding;
};

function checkLog(tally: Tally, { id, runs, stray }: History, pace: Pace): void {
  for (const { event, live } of stray) {
    tally.expect(event.type !== 'job.started', () => `run ${event.run} of job ${id} began while run ${live} was live`);
  }
  for (const [index, { run, started, ended }] of runs.entries()) {
    tally.expect(run === index + 1, () => `job ${id} has run ${run} where run ${index + 1} should be`);
    if (started === undefined || ended?.type !== 'job.lease_expired') continue;
    const [lasted, granted] = [ended.at - started.at, leaseMsOf(pace, started.jobType)];
    tally.expect(
      lasted >= granted,
      () => `the lease of run ${run} of job ${id} ended after ${lasted} ms of ${granted}`,
    );
  }
}

/**
 * The engine itself puts off a run whose checkpoint or parents it cannot read, so that no worker ever gets it. A handler
 * that snoozes has noted its start.
 */
const isPutOff = ({ ended, starts, settles }: Run): boolean =>
  ended?.type === 'job.snoozed' && starts.length === 0 && settles.length === 0;

function checkNotes(tally: Tally, { id }: History, known: Run, clockErrorMs: number): void {
  const { run, started, ended, starts, ends } = known;
  tally.expect(
    starts.length < 2,
    () => `run ${run} of job ${id} was given to ${starts.map(({ by }) => by).join(' and ')}`,
  );
  tally.expect(started !== undefined, () => `run ${run} of job ${id} was worked on, and the log has no start of it`);
  if (ended === undefined || MAY_GO_ON.has(ended.type) || isPutOff(known)) return;
  const isOver = ends.some(({ at }) => at <= ended.at + clockErrorMs);
  tally.expect(isOver, () => `run ${run} of job ${id} has ${ended.type} before its handler came to its end`);
}

/** The next run begins after this one was settled or had lost its lease. */
function checkNext(
  tally: Tally,
  { id }: History,
  { run, ended }: Run,
  next: Run | undefined,
  clockErrorMs: number,
): void {
  const begun = next?.starts[0];
  if (begun === undefined) return;
  const isAfter = ended !== undefined && ended.at <= begun.at + clockErrorMs;
  tally.expect(isAfter, () => `run ${next!.run} of job ${id} was begun by ${begun.by} before run ${run} had ended`);
}
