import { type Check, Tally } from './finding.ts';

/** Guarantee 1: whatever a producer was answered for is in the store and in the log. */
export const acknowledged: Check = ({ notes, jobs, workflows, histories }) => {
  const tally = new Tally('answers');
  const known = new Set(workflows.map(({ id }) => id));
  for (const note of notes) {
    if (note.kind !== 'answered') continue;
    for (const id of note.ids) {
      tally.count();
      const isThere = note.for === 'workflow' ? known.has(id) : jobs.has(id);
      tally.expect(isThere, () => `call ${note.call} was answered for ${note.for} ${id}, which is not in the store`);
      const isTold = note.for === 'workflow' || (histories.get(id)?.events.length ?? 0) > 0;
      tally.expect(isTold, () => `call ${note.call} was answered for job ${id}, and the log does not tell of it`);
    }
  }
  return tally.finding;
};
