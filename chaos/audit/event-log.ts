import { type Job, kindOf, type LoggedEvent, TERMINAL_EVENT_TYPES } from '@waybill/core';
import { type Check, Tally } from './finding.ts';
import type { History } from './history.ts';

const STATE_OF: Readonly<Record<string, Job['state']>> = {
  'job.completed': 'completed',
  'job.cancelled': 'cancelled',
  'job.discarded': 'discarded',
  'job.expired': 'discarded',
};

/** Guarantee 4: the events of each subject are ordered and gap-free, and a job has one end. */
export const eventLog: Check = ({ log, followed, followedUntil, jobs, histories }) => {
  const tally = new Tally('events');
  const newest = inOrder(tally, log, '');
  const told = inOrder(tally, followed, 'to a follower, ');
  for (const [source, sequence] of told) {
    const inLog = newest.get(source) ?? 0;
    tally.expect(sequence <= inLog, () => `${source}: event ${sequence} was told to a follower, the log has ${inLog}`);
  }
  for (const event of log) {
    const source = sourceOf(event);
    const isTold = event.at > followedUntil || event.sequence <= (told.get(source) ?? 0);
    tally.expect(isTold, () => `${source}: event ${event.sequence} was not told to a follower`);
  }
  for (const history of histories.values()) checkEnd(tally, history, jobs.get(history.id));
  for (const { id } of jobs.values())
    tally.expect(histories.has(id), () => `job ${id} has a row, and the log does not tell of it`);
  return tally.finding;
};

/** Each the next of its source; answers the newest of each. */
function inOrder(tally: Tally, events: readonly LoggedEvent[], to: string): Map<string, number> {
  const newest = new Map<string, number>();
  for (const event of events) {
    tally.count();
    const source = sourceOf(event);
    const before = newest.get(source) ?? 0;
    tally.expect(
      event.sequence === before + 1,
      () => `${to}${source}: event ${event.sequence} follows event ${before}`,
    );
    newest.set(source, event.sequence);
  }
  return newest;
}

/** What events are counted by. */
const sourceOf = (event: LoggedEvent): string =>
  `${kindOf(event.type)} ${event.subject ?? event.jobId}, ${event.source}`;

function checkEnd(tally: Tally, { id, events }: History, job: Job | undefined): void {
  tally.expect(job !== undefined, () => `the log tells of job ${id}, and there is no row`);
  if (job === undefined) return;
  tally.expect(job.version === events.length, () => `job ${id} has version ${job.version} and ${events.length} events`);
  const ends = events.filter(({ type }) => TERMINAL_EVENT_TYPES.has(type));
  const last = events.at(-1);
  const endsOnce = ends.length === 1 && ends[0] === last;
  const isOpen = ends.length === 0 && job.finishedAt === null;
  tally.expect(
    endsOnce || isOpen,
    () => `job ${id} has the ends ${ends.map(({ type }) => type)}, its last event is ${last?.type}`,
  );
  if (endsOnce) {
    const told = STATE_OF[last!.type];
    tally.expect(
      job.state === told,
      () => `the log says that job ${id} is ${told}, and its row that it is ${job.state}`,
    );
  }
}
