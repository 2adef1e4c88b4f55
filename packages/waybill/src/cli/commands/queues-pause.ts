import { queueToWire } from '@waybill/client';
import { command } from '../command.ts';

const gate = (verb: 'pause' | 'resume', word: string, summary: string) =>
  command({
    name: `queues ${verb}`,
    section: 'Jobs',
    summary,
    args: 'NAME',
    run: async ({ args: [name = ''] }, context) => {
      const { queues } = await context.connect();
      const queue = await queues[verb](name);
      context.show({ queue: queueToWire(queue) }, () => `${queue.name} ${word}\n`);
      return 0;
    },
  });

export const queuesPause = gate('pause', 'is paused', 'let a queue take jobs and give none');
export const queuesResume = gate('resume', 'gives out jobs', 'let a paused queue give out jobs again');
