import { type Delivery, isObject } from '@waybill/core';
import type { Adopt } from '../sqs/adopt.ts';
import { isStrange, readMessage, receiptOf, type Strange } from '../sqs/message.ts';
import type { Message } from '../sqs/sdk.ts';
import type { SqsRecord } from './lambda-types.ts';

/** For a function at the queue of a foreign producer. */
export interface LambdaAdopt {
  /** The job queue that its messages become jobs of. */
  queue: string;
  /** @defaultValue as in sqs/adopt.ts */
  read?: Adopt;
}

/** A hint says itself which queue and tenant it is of. */
export function readRecord(record: SqsRecord, adopt: LambdaAdopt | undefined): Delivery | Strange {
  const name = queueIn(record);
  const attributes: Record<string, string> = {};
  for (const [key, { stringValue }] of Object.entries(record.messageAttributes ?? {})) {
    if (stringValue !== undefined) attributes[key] = stringValue;
  }
  const raw = { body: record.body, attributes, handle: record.receiptHandle, id: record.messageId };
  const place = placeOf(record.body) ?? { tenant: '', queue: adopt?.queue ?? '' };
  const own = readMessage(raw, place, name, undefined);
  if (!isStrange(own) || !adopt) return own;
  const adopted = readMessage(raw, { tenant: '', queue: adopt.queue }, name, adopt.read ?? true);
  return isStrange(adopted) ? adopted : { ...adopted, message: messageOf(record) };
}

const queueIn = ({ eventSourceARN }: SqsRecord): string => eventSourceARN.slice(eventSourceARN.lastIndexOf(':') + 1);

export const receiptIn = (record: SqsRecord): string => receiptOf(queueIn(record), record.receiptHandle);

/** As SQS itself hands it out. */
export const messageOf = ({ body, messageAttributes = {} }: SqsRecord): Message => ({
  Body: body,
  MessageAttributes: Object.fromEntries(
    Object.entries(messageAttributes).map(([name, { dataType = 'String', stringValue, binaryValue }]) => [
      name,
      binaryValue === undefined
        ? { DataType: dataType, StringValue: stringValue }
        : { DataType: dataType, BinaryValue: Buffer.from(binaryValue, 'base64') },
    ]),
  ),
});

function placeOf(body: string): { tenant: string; queue: string } | null {
  try {
    const value: unknown = JSON.parse(body);
    if (!isObject(value) || typeof value['queue'] !== 'string') return null;
    const { tenant = '', queue } = value;
    return typeof tenant === 'string' ? { tenant, queue } : null;
  } catch {
    return null;
  }
}
