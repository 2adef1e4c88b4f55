import { isObject, type JsonObject, type Logger, stderrLogger } from '@waybill/core';
import { type DeliveredEvent, eventIn, textOf } from '../event-bus/envelope.ts';
import { parse } from '../sqs/message.ts';
import type { BatchResponse, SqsEvent, SqsRecord } from './lambda-types.ts';

/** An event that a target of the bus did not take. */
export interface DeliveryFailure {
  heading: string;
  /** Null: the message is no event of a task or job. */
  eventType: string | null;
  detailType: string | null;
  /** Of the task or job, as in the table of events. */
  entityKey: string | null;
  /** When it happened, in milliseconds since the epoch. */
  at: number | null;
  messageId: string;
  /** What EventBridge says about the failure. */
  error: string | null;
  rule: string | null;
}

export interface DeliveryFailureOptions {
  /** Tells operators. When it fails, the message comes again. */
  notify(failure: DeliveryFailure): Promise<unknown>;
  /** @defaultValue stderrLogger */
  logger?: Logger;
}

/**
 * A function at the dead-letter queue of a rule's target. It tells of events that were not delivered, and repeats none: the
 * rows have what the event said, and the log of the store has the event.
 */
export function deliveryFailureHandler({ notify, logger = stderrLogger }: DeliveryFailureOptions) {
  return async ({ Records }: SqsEvent): Promise<BatchResponse> => {
    const batchItemFailures: BatchResponse['batchItemFailures'] = [];
    for (const record of Records) {
      try {
        await notify(failureIn(record));
      } catch (error) {
        logger.warn({ err: error, message: record.messageId }, 'A failed delivery could not be told; it comes again.');
        batchItemFailures.push({ itemIdentifier: record.messageId });
      }
    }
    return { batchItemFailures };
  };
}

function failureIn({ body, messageId, messageAttributes = {} }: SqsRecord): DeliveryFailure {
  const value = parse(body);
  const delivered = (isObject(value) ? value : {}) as JsonObject;
  const detailType = textOf(delivered['detail-type']) ?? null;
  const event = detailType === null ? null : eventIn(delivered as unknown as DeliveredEvent);
  const told = (name: string) => messageAttributes[name]?.stringValue ?? null;
  return {
    ...{ heading: 'An event could not be delivered', eventType: event?.eventType ?? null, detailType },
    ...{ entityKey: event?.gsi1pk ?? null, at: event?.timestamp ?? null, messageId },
    error: told('ERROR_MESSAGE') ?? told('ERROR_CODE'),
    rule: told('RULE_ARN'),
  };
}
