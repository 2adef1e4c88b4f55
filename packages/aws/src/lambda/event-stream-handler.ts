import { type LoggedEvent, type Logger, stderrLogger } from '@waybill/core';
import { confirmedBy } from '../dynamodb/keys.ts';
import type { DynamoStore } from '../dynamodb/store.ts';
import type { BatchResponse, StreamEvent, StreamRecord } from './lambda-types.ts';
import { openedOnce } from './opened-once.ts';

export interface EventStreamOptions {
  /** Opened by the first invocation and kept as long as the function's container lives. */
  open(): Promise<{ store: Pick<DynamoStore, 'confirmedEvents'> }>;
  /**
   * Given what one call of the engine wrote, and called one after another. Most events are of jobs; the others are of a
   * queue, a cron, a workflow, a worker or a record, which `subject` names, and `isJobEvent` of `@waybill/core` tells them
   * apart. When it fails, Lambda brings the same events again, so they may come twice: each has its `cursor`, and its
   * `sequence` within its job or subject.
   */
  onEvents(events: LoggedEvent[]): Promise<unknown>;
  /** @defaultValue stderrLogger */
  logger?: Logger;
}

/**
 * A Lambda function at the stream of the table. The log is the truth, and the stream only says that a segment of it was
 * confirmed: the events are read from the log, and whatever else was written to the table is passed over.
 */
export function eventStreamHandler({ open, onEvents, logger = stderrLogger }: EventStreamOptions) {
  const opened = openedOnce(open);

  async function tell(position: number): Promise<void> {
    const events = await (await opened()).store.confirmedEvents(position);
    if (events === null) logger.warn({ position }, 'a segment of the log has expired before its events were told');
    else if (events.length > 0) await onEvents(events);
  }

  return async ({ Records }: StreamEvent): Promise<BatchResponse> => {
    for (const record of Records) {
      const position = confirmedIn(record);
      if (position === null) continue;
      try {
        await tell(position);
      } catch (error) {
        logger.error({ position, error }, 'events could not be told, so they come again');
        // Lambda goes on from there: what is behind it comes again too, so the order is kept.
        return { batchItemFailures: [{ itemIdentifier: record.dynamodb!.SequenceNumber! }] };
      }
    }
    return { batchItemFailures: [] };
  };
}

/** The segment that was confirmed; null: the record tells of something else. */
function confirmedIn({ eventName, dynamodb }: StreamRecord): number | null {
  const { pk, sk } = dynamodb?.Keys ?? {};
  if (eventName !== 'INSERT' || pk?.S === undefined || sk?.S === undefined) return null;
  return confirmedBy({ pk: pk.S, sk: sk.S });
}
