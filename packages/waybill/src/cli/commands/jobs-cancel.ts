import { command } from '../command.ts';
import { forEachId } from '../each-id.ts';

export const jobsCancel = command({
  name: 'jobs cancel',
  section: 'Jobs',
  summary: 'cancel jobs that have not finished',
  args: 'ID…',
  options: { reason: { value: 'TEXT', about: 'kept in the event log' } },
  run: async ({ args, values: { reason } }, context) => {
    const waybill = await context.connect();
    const told = { by: 'cli', ...(reason !== undefined && { reason }) };
    return forEachId(waybill, args, context, 'cancelled', (id) => waybill.jobs.cancel(id, told));
  },
});
