import type { Order } from '../actors/order.ts';
import { type Check, Tally, type World } from './finding.ts';

/** Guarantee 10: a call that is made again has the effect of one. */
export const repetition: Check = (world) => {
  const tally = new Tally('repetitions');
  checkAnswers(tally, world);
  checkRows(tally, world);
  for (const note of world.notes) {
    if (note.kind === 'settled' && note.again) {
      tally.count();
      // What lets the job go on may have been overtaken by its next run.
      const isAlike = note.outcome !== 'completed' || (note.answer !== 'lease_lost' && note.answer !== 'conflict');
      tally.expect(isAlike, () => `${note.by} completed run ${note.run} of job ${note.id}, and again: ${note.answer}`);
    }
    if (note.kind !== 'claimed-again') continue;
    tally.count();
    tally.expect(
      note.extra.length === 0,
      () => `claim ${note.claim} of ${note.by} gave out more when repeated: ${note.extra}`,
    );
  }
  return tally.finding;
};

/** All answers to one call name the same jobs. */
function checkAnswers(tally: Tally, { notes }: World): void {
  const answers = new Map<string, { tries: number; ids: Set<string> }>();
  for (const note of notes) {
    if (note.kind !== 'answered' && note.kind !== 'refused') continue;
    const known = answers.get(note.call) ?? { tries: 0, ids: new Set() };
    known.tries += 1;
    if (note.kind === 'answered') known.ids.add(note.ids.join(' '));
    answers.set(note.call, known);
  }
  for (const [call, { tries, ids }] of answers) {
    if (tries > 1) tally.count(tries - 1);
    tally.expect(ids.size <= 1, () => `call ${call} was answered with different jobs: ${[...ids].join(', ')}`);
  }
}

/** One call has made at most one job or workflow, whatever was answered. The nodes of a workflow share its label. */
function checkRows(tally: Tally, { jobs, workflows }: World): void {
  const single = [...jobs.values()].filter(({ type }) => type !== 'chaos.node' && type !== 'chaos.cron');
  const labels = [
    ...single.map(({ id, spec }) => ({ id: `job ${id}`, call: (spec.args[0] as unknown as Order).call })),
    ...workflows.flatMap(({ id, name }) => (name === null ? [] : [{ id: `workflow ${id}`, call: name }])),
  ];
  for (const [call, made] of Map.groupBy(labels, (label) => label.call))
    tally.expect(made.length === 1, () => `call ${call} has made ${made.map(({ id }) => id).join(' and ')}`);
  const keyed = single.filter(({ idempotencyKey }) => idempotencyKey !== null);
  for (const [key, own] of Map.groupBy(keyed, ({ idempotencyKey }) => idempotencyKey))
    tally.expect(
      own.length === 1,
      () => `idempotency key ${key} has ${own.map(({ id }) => `job ${id}`).join(' and ')}`,
    );
}
