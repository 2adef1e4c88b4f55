import { command } from '../command.ts';
import { forEachId } from '../each-id.ts';

export const jobsRetry = command({
  name: 'jobs retry',
  section: 'Jobs',
  summary: 'run finished jobs again with all their attempts',
  args: 'ID…',
  notes: 'However a job ended: completed, cancelled or discarded. Many dead letters at once: waybill dead replay --all',
  run: async ({ args }, context) => {
    const waybill = await context.connect();
    return forEachId(waybill, args, context, 'starts over', (id) => waybill.jobs.retry(id));
  },
});
