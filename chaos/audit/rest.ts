import { isFinished, type Job } from '@waybill/core';
import { type Check, Tally } from './finding.ts';
import type { History } from './history.ts';

/** Nothing is stuck: when nothing goes wrong any more, all jobs and workflows come to an end, and all slots are free. */
export const nothingStuck: Check = ({ jobs, workflows, limits, histories }) => {
  const tally = new Tally('jobs and workflows');
  for (const job of jobs.values()) {
    tally.count();
    tally.expect(isFinished(job.state), () => `${described(job)}, its last event is ${lastOf(histories.get(job.id))}`);
  }
  for (const { key, holders, parked } of limits) {
    const isFree = holders === 0 && parked === 0;
    tally.expect(isFree, () => `limit ${key} has ${holders} holders and ${parked} jobs that wait`);
  }
  for (const { id, state } of workflows) {
    tally.count();
    tally.expect(state !== 'running', () => `workflow ${id} is running`);
  }
  return tally.finding;
};

function described({ id, type, state, limitKey, holdsSlot, nextAt }: Job): string {
  const limited = limitKey === null ? '' : `, of limit ${limitKey} ${holdsSlot ? 'with' : 'without'} a slot`;
  return `job ${id} (${type}${limited}) is ${state}, to be looked at ${nextAt === null ? 'never' : new Date(nextAt).toISOString()}`;
}

const lastOf = (history: History | undefined): string => {
  const last = history?.events.at(-1);
  return last ? `${last.type} at ${new Date(last.at).toISOString()}` : 'none';
};

/** A call is refused for a reason that its caller can act on, whatever goes wrong. */
export const noSurprises: Check = ({ notes }) => {
  const tally = new Tally('calls');
  for (const note of notes) {
    if (note.kind !== 'answered' && note.kind !== 'refused' && note.kind !== 'settled') continue;
    tally.count();
    const code = note.kind === 'refused' ? note.code : note.kind === 'settled' ? note.answer : 'ok';
    const what = () =>
      note.kind === 'settled' ? `the settle of run ${note.run} of job ${note.id}` : `call ${note.call}`;
    tally.expect(code !== 'internal' && code !== 'unknown', () => `${note.by}: ${what()} met an ${code} error`);
  }
  return tally.finding;
};

/** No process ends by itself once it has come up, whatever becomes of its store or server. */
export const nobodyDied: Check = ({ endings }) => {
  const tally = new Tally('processes');
  for (const { life, how, code, signal, wasReady } of endings) {
    tally.count();
    tally.expect(how !== 'died' || !wasReady, () => `${life} ended by itself, with ${signal ?? code}`);
  }
  return tally.finding;
};
