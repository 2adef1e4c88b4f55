import type { Message, MessageAttributeValue } from '@aws-sdk/client-sqs';
import { type AsideMessage, isJobId, isObject } from '@waybill/core';
import { hintedJob, parse, receiptOf } from './message.ts';
import type { Place, Role } from './queue-names.ts';

/** Why a message was put aside; goes when it is sent back. */
const REASON = 'WaybillReason';
/** SQS takes no more of them with one message. */
const MOST_ATTRIBUTES = 10;
const LONGEST_REASON = 1_000;

/** With a note why it is put aside. */
export function withReason({ MessageAttributes = {} }: Message, reason: string) {
  if (Object.keys(MessageAttributes).length >= MOST_ATTRIBUTES) return { MessageAttributes };
  // SQS refuses a message for a letter that it does not know.
  const StringValue = reason.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, LONGEST_REASON);
  const noted: MessageAttributeValue = { DataType: 'String', StringValue };
  return { MessageAttributes: { ...MessageAttributes, [REASON]: noted } };
}

/** As it was before it was put aside. */
export function original({ Body, MessageAttributes = {} }: Message) {
  const { [REASON]: _, ...attributes } = MessageAttributes;
  return { MessageBody: Body, ...(Object.keys(attributes).length > 0 && { MessageAttributes: attributes }) };
}

export function asideMessage(message: Message, place: Place, role: 'redrive' | 'dead', name: string): AsideMessage {
  const { MessageId = '', Body = '', Attributes, MessageAttributes, ReceiptHandle = '' } = message;
  const value = parse(Body);
  const hinted = hintedJob(value, place);
  const noticed = role === 'dead' ? noticedJob(value) : null;
  return {
    ...{ id: MessageId, tenant: place.tenant, queue: place.queue, place: role },
    kind: hinted !== null ? 'hint' : noticed !== null ? 'notice' : 'foreign',
    jobId: hinted ?? noticed,
    body: Body,
    reason: MessageAttributes?.[REASON]?.StringValue ?? null,
    sentAt: Number(Attributes?.SentTimestamp ?? 0),
    receipt: receiptOf(name, ReceiptHandle),
    message,
  };
}

/** What `deadMessage` writes. */
function noticedJob(value: unknown): string | null {
  if (!isObject(value)) return null;
  const { job_id: jobId, max_attempts: most, time } = value;
  const isNotice = typeof most === 'number' && typeof time === 'string';
  return isNotice && typeof jobId === 'string' && isJobId(jobId) ? jobId : null;
}

export const ASIDE: readonly Extract<Role, 'redrive' | 'dead'>[] = ['redrive', 'dead'];
