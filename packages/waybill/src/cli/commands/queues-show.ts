import { queueCounts, queueToWire } from '@waybill/client';
import { command } from '../command.ts';
import { span } from '../spans.ts';
import { pairs } from '../table.ts';
import { limitText } from './queues-list.ts';

export const queuesShow = command({
  name: 'queues show',
  section: 'Jobs',
  summary: 'show how many jobs a queue has, by state',
  args: 'NAME',
  notes: 'Finished ones are counted since the queue began; the other counts stop at a bound.',
  run: async ({ args: [name = ''] }, context) => {
    const { queues } = await context.connect();
    const stats = await queues.stats(name);
    const queue = { ...queueToWire(stats), ...queueCounts(stats, context.io.now()) };
    const { available, parked, oldest_age_ms: age } = queue;
    const waiting = parked === 0 ? '' : ` (${parked} wait for a limit)`;
    context.show({ queue }, () =>
      pairs(
        [
          ['queue', queue.name],
          ['status', queue.status, context.style.state],
          ['limit', limitText(stats.limit)],
          ['keeps', stats.keep === 'none' ? 'nothing of completed jobs' : undefined],
          ['available', `${available}${waiting}`],
          ['oldest', age === undefined ? undefined : span(age)],
          ...(['active', 'scheduled', 'retryable', 'pending', 'completed', 'cancelled', 'discarded'] as const).map(
            (state) => [state, String(queue[state])] as const,
          ),
        ],
        context,
      ),
    );
    return 0;
  },
});
