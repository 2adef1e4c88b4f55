import { queueToWire } from '@waybill/client';
import { QUEUE_KEEPS, type QueueKeep } from '@waybill/core';
import { command, misuse } from '../command.ts';

export const queuesKeep = command({
  name: 'queues keep',
  section: 'Jobs',
  summary: 'keep or forget the jobs that complete',
  args: 'NAME KEEP',
  notes: 'KEEP is all or none. With none a completed job leaves neither row nor events; others are kept.',
  run: async ({ args: [name = '', keep = ''] }, context) => {
    if (!isKeep(keep)) throw misuse(`Say what to keep: ${QUEUE_KEEPS.join(' or ')}, not '${keep}'.`);
    const { queues } = await context.connect();
    const queue = await queues.setKeep(name, keep);
    const what = keep === 'all' ? 'all its jobs' : 'nothing of completed jobs';
    context.show({ queue: queueToWire(queue) }, () => `${queue.name} keeps ${what}\n`);
    return 0;
  },
});

const isKeep = (text: string): text is QueueKeep => (QUEUE_KEEPS as readonly string[]).includes(text);
