import { cronToWire, toRfc3339 } from '@waybill/client';
import { command } from '../command.ts';

const gate = (verb: 'pause' | 'resume', summary: string) =>
  command({
    name: `cron ${verb}`,
    section: 'Schedules and workflows',
    summary,
    args: 'NAME',
    run: async ({ args: [name = ''] }, context) => {
      const { crons } = await context.connect();
      const cron = await crons.setEnabled(name, verb === 'resume');
      const told = cron.nextAt === null ? 'is paused' : `fires next at ${toRfc3339(cron.nextAt)}`;
      context.show({ cron: cronToWire(cron) }, () => `${cron.name} ${told}\n`);
      return 0;
    },
  });

export const cronPause = gate('pause', 'keep a schedule from firing');
export const cronResume = gate('resume', 'let a paused schedule fire again');
