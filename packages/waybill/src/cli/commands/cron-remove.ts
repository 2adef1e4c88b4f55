import { cronToWire } from '@waybill/client';
import { command } from '../command.ts';

export const cronRemove = command({
  name: 'cron remove',
  section: 'Schedules and workflows',
  summary: 'remove a schedule; the jobs that it made stay',
  args: 'NAME',
  run: async ({ args: [name = ''] }, context) => {
    const { crons } = await context.connect();
    const cron = await crons.remove(name);
    context.show({ deleted: true, name, cron: cronToWire(cron) }, () => `${name} is removed\n`);
    return 0;
  },
});
