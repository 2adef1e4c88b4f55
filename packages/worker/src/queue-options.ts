import { checkQueue, didYouMean, isObject, WaybillError } from '@waybill/core';

/** How a worker treats one of its queues. */
export interface QueueOptions {
  /** Share of the starts while several queues have jobs: 3 beside 1 means three of four. @defaultValue 1 */
  weight?: number;
  /** Handlers of this queue at a time in this worker; jobs claimed ahead count. @defaultValue no bound of its own */
  concurrency?: number;
}

export const QUEUE_ORDERS = ['fair', 'strict'] as const;
export type QueueOrder = (typeof QUEUE_ORDERS)[number];

export interface ResolvedQueue {
  name: string;
  weight: number;
  /** Infinite: no bound of its own. */
  concurrency: number;
}

const QUEUE_OPTIONS = ['weight', 'concurrency'] as const;
const MOST = 1_000;

/** Checked here, because a claim that names a queue wrongly would be refused over and over. */
export function resolveQueues(
  given: readonly string[] | Readonly<Record<string, QueueOptions>>,
  order: QueueOrder,
): ResolvedQueue[] {
  if (!(QUEUE_ORDERS as readonly unknown[]).includes(order)) {
    const meant = didYouMean(String(order), QUEUE_ORDERS);
    throw refuse('order', `must be 'fair' or 'strict', not '${order}'.${meant}`);
  }
  const entries = entriesOf(given);
  if (entries.length === 0) throw refuse('queues', 'or at least one task is required.');
  return entries.map(([name, options]) => resolveQueue(name, options, order));
}

function entriesOf(given: unknown): [name: string, options: unknown][] {
  // A queue that is named twice is claimed once.
  if (Array.isArray(given)) return [...new Set<string>(given)].map((name) => [name, {}]);
  if (isObject(given)) return Object.entries(given);
  throw refuse('queues', `must be a list of names, or an object such as { mail: { weight: 3 }, bulk: {} }.`);
}

function resolveQueue(name: string, options: unknown, order: QueueOrder): ResolvedQueue {
  checkQueue(String(name), 'queues');
  if (!isObject(options)) throw refuse('queues', `must have an object for '${name}', such as { weight: 3 }.`);
  for (const option of Object.keys(options)) {
    if ((QUEUE_OPTIONS as readonly string[]).includes(option)) continue;
    const rule = `has the unknown option '${option}' for '${name}'. Use 'weight' and 'concurrency'.`;
    throw refuse('queues', `${rule}${didYouMean(option, QUEUE_OPTIONS)}`);
  }
  const { weight, concurrency } = options as QueueOptions;
  if (weight !== undefined && order === 'strict')
    throw refuse('queues', `has a weight for '${name}', which means nothing with order 'strict'.`);
  return {
    name,
    weight: positive('weight', weight, name) ?? 1,
    concurrency: positive('concurrency', concurrency, name) ?? Number.POSITIVE_INFINITY,
  };
}

function positive(option: keyof QueueOptions, value: unknown, queue: string): number | undefined {
  if (value === undefined || (Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MOST))
    return value as number | undefined;
  throw refuse('queues', `has '${queue}' with ${option} ${String(value)}. Use an integer from 1 to ${MOST}.`);
}

const refuse = (name: string, why: string): WaybillError =>
  new WaybillError('invalid_request', `The option '${name}' ${why}`);
