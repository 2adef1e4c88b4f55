import type { DeadMessage, DeadMessages, JobFilter } from '@waybill/core';
import type { Context } from './context.ts';
import { away } from './spans.ts';
import { type Column, table } from './table.ts';

/** As much as one call does, so that a Ctrl-C is heard. */
const SLICE = 100;
export const MOST_MESSAGES = 1_000;

/** Messages have neither a type nor an error: filters by these mean rows only. */
export function queuesOnly(filter: Partial<JobFilter>): { queues?: readonly string[] } | null {
  const { queues, ...rest } = filter;
  if (Object.keys(rest).length > 0) return null;
  return queues === undefined ? {} : { queues };
}

export const messageToWire = ({ id, queue, place, kind, jobId, reason, sentAt, body }: DeadMessage) => ({
  ...{ message_id: id, queue, place, kind, job_id: jobId, reason, sent_at: new Date(sentAt).toISOString(), body },
});

export function messageTable(messages: readonly DeadMessage[], context: Context): string {
  const { io } = context;
  const columns: Column<DeadMessage>[] = [
    { title: 'MESSAGE', of: ({ id }) => id, least: 9 },
    { title: 'QUEUE', of: ({ queue }) => queue, least: 8 },
    { title: 'PLACE', of: ({ place }) => place, spare: 1 },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'SENT', of: ({ sentAt }) => away(sentAt, io.now()) },
    { title: 'WHAT', of: ({ jobId, reason, body }) => jobId ?? reason ?? body, least: 12 },
  ];
  return table(messages, columns, context);
}

/**
 * Answers how many were sent back, or removed since their rows have no use for them. The number that was found bounds the
 * work: what is sent back may be refused and put aside again at once. Also where none was found there is a round: it
 * removes the notices of jobs that live again.
 */
export async function replayMessages(
  messages: DeadMessages,
  { queues }: Partial<JobFilter>,
  found: number,
  signal: AbortSignal,
): Promise<number> {
  const query = queues === undefined ? {} : { queues };
  let done = 0;
  while (!signal.aborted) {
    const { replayed, removed } = await messages.replay(query, { atMost: Math.min(SLICE, found - done) });
    done += replayed + removed;
    if (replayed + removed === 0 || done >= found) break;
  }
  return done;
}
