import type { DeadLetters, JobFilter } from '@waybill/core';
import type { Options, Values } from './command.ts';
import { readList, readPast, readText } from './read-value.ts';

export const DEAD_FILTERS = {
  queue: { value: 'NAMES', about: 'only of these queues' },
  type: { value: 'TYPES', about: 'only of these types' },
  error: { value: 'TYPE', about: 'only those whose last error has this type or code' },
  since: { value: 'WHEN', about: 'only those given up since: 2h, 7d, 2030-01-31T12:00:00Z' },
} as const satisfies Options;

type DeadValues = Values<typeof DEAD_FILTERS>;

export function readDeadFilter({ queue, type, error, since }: DeadValues, now: number): Partial<JobFilter> {
  return {
    ...(queue !== undefined && { queues: readList('--queue', queue) }),
    ...(type !== undefined && { types: readList('--type', type) }),
    ...(error !== undefined && { errorType: readText('--error', error) }),
    ...(since !== undefined && { finishedAfter: readPast('--since', since, now) }),
  };
}

const SLICE = 1_000;

/** How many match, page by page: a filter may be one that no index counts. */
export async function countDead(
  deadLetters: DeadLetters,
  filter: Partial<JobFilter>,
  signal: AbortSignal,
): Promise<number> {
  let count = 0;
  let cursor: string | undefined;
  do {
    const page = await deadLetters.list({ filter, limit: SLICE, ...(cursor !== undefined && { cursor }) });
    count += page.items.length;
    cursor = page.cursor;
  } while (cursor !== undefined && !signal.aborted);
  return count;
}
