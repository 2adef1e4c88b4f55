import type { Engine } from '@waybill/core';
import type { BusEvent, DeliveredEvent } from '../../event-bus/envelope.ts';
import { DETAIL_TYPE, sourceOf } from '../../event-bus/envelope.ts';
import { APP, translated } from '../../event-bus/testing/bench.ts';
import type { LambdaContext, SqsEvent, SqsRecord } from '../lambda-types.ts';

/** An event as EventBridge gives it to a function. */
export const delivered = (detail: BusEvent): DeliveredEvent =>
  JSON.parse(JSON.stringify({ 'detail-type': DETAIL_TYPE, source: sourceOf(APP), detail })) as DeliveredEvent;

/** What the log says, as EventBridge would bring it. */
export const deliveredFrom = async (waybill: Engine): Promise<DeliveredEvent[]> =>
  (await translated(waybill)).map(delivered);

export const withTime = (ms: number): LambdaContext => ({ getRemainingTimeInMillis: () => ms });

/** Messages as SQS gives them to a function. */
export const messages = (...bodies: [body: unknown, attributes?: Record<string, string>][]): SqsEvent => ({
  Records: bodies.map(
    ([body, attributes = {}], index): SqsRecord => ({
      ...{ messageId: `m${index}`, receiptHandle: `r${index}`, eventSourceARN: 'arn:aws:sqs:eu-west-1:1:q-redrive' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      messageAttributes: Object.fromEntries(
        Object.entries(attributes).map(([name, stringValue]) => [name, { stringValue, dataType: 'String' }]),
      ),
    }),
  ),
});
