import { command } from '../command.ts';
import { forEachId } from '../each-id.ts';
import { ofDeadLetter } from '../one-dead.ts';

export const jobsRetry = command({
  name: 'jobs retry',
  section: 'Jobs',
  summary: 'let dead letters start over with all their attempts',
  args: 'ID…',
  notes: 'Many at once, by queue, type or error: waybill dead replay --all',
  run: async ({ args }, context) => {
    const waybill = await context.connect();
    return forEachId(args, context, 'starts over', (id) =>
      ofDeadLetter(waybill, id, () => waybill.deadLetters.replay(id)),
    );
  },
});
