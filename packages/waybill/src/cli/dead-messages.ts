import type { DeadMessage, DeadMessages, JobFilter } from '@waybill/core';
import type { Context } from './context.ts';
import { away } from './spans.ts';
import { type Column, clipped, oneLine, table } from './table.ts';

const LONGEST_TEXT = 60;
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

export function messageTable(messages: readonly DeadMessage[], { style, io }: Context): string {
  const columns: Column<DeadMessage>[] = [
    { title: 'MESSAGE', of: ({ id }) => id },
    { title: 'QUEUE', of: ({ queue }) => queue },
    { title: 'PLACE', of: ({ place }) => place },
    { title: 'KIND', of: ({ kind }) => kind },
    { title: 'SENT', of: ({ sentAt }) => away(sentAt, io.now()) },
    { title: 'WHAT', of: ({ jobId, reason, body }) => clipped(oneLine(jobId ?? reason ?? body), LONGEST_TEXT) },
  ];
  return table(messages, columns, style);
}

/** The number that was found bounds the work: what is sent back may be refused and put aside again at once. */
export async function replayMessages(
  messages: DeadMessages,
  filter: { queues?: readonly string[] },
  atMost: number,
  signal: AbortSignal,
): Promise<number> {
  let done = 0;
  let replayed = 0;
  while (done < atMost && !signal.aborted) {
    const round = await messages.replay(filter, { atMost: Math.min(SLICE, atMost - done) });
    replayed += round.replayed;
    if (round.replayed + round.removed === 0) break;
    done += round.replayed + round.removed;
  }
  return replayed;
}
