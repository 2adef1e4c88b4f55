import { didYouMean, WaybillError } from '@waybill/core';
import type { AnyTask, QueueOptions, QueueOrder } from '@waybill/worker';
import type { Options, Values } from './command.ts';
import { readList } from './read-value.ts';

/** Which queues a worker works on, and how it shares its handlers over them. */
export const QUEUE_OPTIONS = {
  queues: { value: 'NAMES', about: 'queues, with weights like mail=3,bulk', default: 'those of the tasks' },
  order: { value: 'ORDER', about: 'fair: by weight; strict: an earlier queue always goes first', default: 'fair' },
  bounds: {
    value: 'BOUNDS',
    about: 'handlers at a time of single queues, like bulk=2,reports=1',
    default: 'no bound',
  },
} as const satisfies Options;

const MOST = 1_000;

interface ReadQueues {
  queues: Record<string, QueueOptions>;
  order?: QueueOrder;
}

export function readQueueOptions(values: Values<typeof QUEUE_OPTIONS>, tasks: readonly AnyTask[]): ReadQueues {
  const { queues, order, bounds } = values;
  const read = new Map(queues === undefined ? ofTasks(tasks) : weighted(queues));
  for (const item of bounds === undefined ? [] : readList('--bounds', bounds)) {
    const [name, concurrency] = pair('--bounds', item);
    if (concurrency === undefined)
      throw wrong(`--bounds has no number for '${name}'.`, 'Write it like bulk=2,reports=1.');
    const known = read.get(name);
    if (known === undefined) {
      const meant = didYouMean(name, [...read.keys()]);
      throw wrong(`--bounds names '${name}', which this worker does not work on.${meant}`);
    }
    read.set(name, { ...known, concurrency });
  }
  return { queues: Object.fromEntries(read), ...(order !== undefined && { order: readOrder(order) }) };
}

const ofTasks = (tasks: readonly AnyTask[]): [string, QueueOptions][] =>
  tasks.map(({ policy }) => [policy.queue ?? 'default', {}]);

/** What --queues names, without the weights. */
export const queueNames = (text: string): string[] => weighted(text).map(([name]) => name);

const weighted = (text: string): [string, QueueOptions][] =>
  readList('--queues', text).map((item) => {
    const [name, weight] = pair('--queues', item);
    return [name, weight === undefined ? {} : { weight }];
  });

/** `mail=3`, or a name alone. */
function pair(option: string, item: string): [name: string, number: number | undefined] {
  const [name = '', number, ...more] = item.split('=').map((part) => part.trim());
  if (number === undefined) return [name, undefined];
  if (name !== '' && more.length === 0 && /^[1-9]\d*$/.test(number) && Number(number) <= MOST)
    return [name, Number(number)];
  throw wrong(
    `${option} must have a name and a whole number from 1 to ${MOST}, not '${item}'.`,
    'Write it like mail=3.',
  );
}

function readOrder(text: string): QueueOrder {
  if (text === 'fair' || text === 'strict') return text;
  throw wrong(`--order must be fair or strict, not '${text}'.${didYouMean(text, ['fair', 'strict'])}`);
}

const wrong = (message: string, hint?: string): WaybillError =>
  new WaybillError('invalid_request', message, hint === undefined ? {} : { hint });
